import { describeCheck, evaluate } from '@agentci/testing/check-cases';
import { expect, test } from 'vitest';
import { check } from './expected-in-answer.ts';

describeCheck(check, {
  sample: { params: ['yes'], keeps: { answer: 'Yes!' }, breaks: { answer: 'no' } },
  verdicts: [
    {
      when: 'there is no final answer',
      block: { expected_in_answer: ['a'] },
      run: { tool_calls: [] },
      status: 'error',
    },
    {
      when: 'an empty answer is an answer',
      block: { expected_in_answer: ['x'] },
      run: { answer: '' },
      status: 'fail',
    },
  ],
  issues: [
    { block: { expected_in_answer: [] }, found: ['error SPEC_CANNOT_FAIL'] },
    { block: { expected_in_answer: ['a', ' '] }, found: ['error SPEC_EMPTY 1'] },
  ],
  refuses: ['text'],
});

test.each([
  { text: 'ΟΔΟΣ ΑΘΗΝΑΣ', term: 'οδος' },
  { text: 'Straße', term: 'STRASSE' },
  { text: 'İSTANBUL', term: 'istanbul' },
])('folds case: $term in $text', ({ text, term }) => {
  expect(evaluate('correctness', { expected_in_answer: [term] }, { answer: text }).status).toBe(
    'pass',
  );
});
