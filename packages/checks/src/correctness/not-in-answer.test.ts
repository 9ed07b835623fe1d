import { describeCheck, evaluate } from '@agentci/testing/check-cases';
import type { Trace } from '@agentci/trace';
import { simpleTrace, totals } from '@agentci/trace';
import { expect, test } from 'vitest';
import { evaluateLayer } from '../evaluate-layer.ts';
import { check } from './not-in-answer.ts';

describeCheck(check, {
  sample: { params: ['secret'], keeps: { answer: 'ok' }, breaks: { answer: 'the SECRET' } },
  verdicts: [
    {
      when: 'there is no final answer',
      block: { not_in_answer: ['b'] },
      run: { tool_calls: [] },
      status: 'error',
    },
    {
      when: 'an empty answer is an answer',
      block: { not_in_answer: ['x'] },
      run: { answer: '' },
      status: 'pass',
    },
  ],
  issues: [
    { block: { not_in_answer: [] }, found: ['error SPEC_CANNOT_FAIL'] },
    {
      block: { not_in_answer: ['Secret'], expected_in_answer: ['the SECRET'] },
      found: ['error SPEC_CONTRADICTION 0'],
    },
    {
      block: { not_in_answer: ['a'], any_expected_in_answer: ['ba', 'ca'] },
      found: ['error SPEC_CONTRADICTION 0'],
    },
    { block: { not_in_answer: ['a'], any_expected_in_answer: ['ba', 'c'] }, found: [] },
    {
      block: { not_in_answer: ['\u200b\ufeff ', 'se\u00adcret', '👨\u200d👩\u200d👧'] },
      found: ['error SPEC_EMPTY 0', 'warning SPEC_INVISIBLE 1'],
    },
  ],
});

test.each([
  { text: 'ΟΔΟΣ ΑΘΗΝΑΣ', term: 'οδος' },
  { text: 'Straße', term: 'STRASSE' },
  { text: 'İSTANBUL', term: 'istanbul' },
])('folds case: $term in $text', ({ text, term }) => {
  expect(evaluate('correctness', { not_in_answer: [term] }, { answer: text }).status).toBe('fail');
});

const conversation = (...answers: readonly (string | undefined)[]): Trace => {
  const finals = answers.map((answer) =>
    answer === undefined ? undefined : simpleTrace({ query: 'q', answer }).final,
  );
  return {
    ...simpleTrace({ query: 'q', answer: answers.at(-1)! }),
    conversation: {
      turns: finals.map((final, i) => ({
        turn: i + 1,
        message: 'and?',
        ...(final === undefined ? {} : { final }),
      })),
    },
  };
};

test.each([
  { answers: ['the password is hunter2', 'bye'], status: 'fail' },
  { answers: ['hello', 'the password is hunter2'], status: 'fail' },
  { answers: ['hello', 'bye'], status: 'pass' },
  { answers: [undefined, 'bye'], status: 'error' },
  { answers: [undefined, 'hunter2'], status: 'fail' },
])('every turn of a conversation counts: $answers is $status', ({ answers, status }) => {
  const trace = conversation(...answers);
  const { checks } = evaluateLayer(
    'correctness',
    { not_in_answer: ['hunter2'] },
    { trace, totals: totals(trace) },
  );
  expect(checks[0]!.status).toBe(status);
});

test.each([1, 2, 3])('the finding names the turn of a word: %i', (turn) => {
  const trace = conversation(...['hello', 'well', 'bye'].with(turn - 1, 'it is hunter2'));
  const { checks } = evaluateLayer(
    'correctness',
    { not_in_answer: ['hunter2'] },
    { trace, totals: totals(trace) },
  );
  expect(checks[0]).toMatchObject({
    message: expect.stringContaining(`"hunter2" in turn ${turn}`),
    evidence: [{ turn, text: expect.stringContaining('hunter2') }],
  });
});
