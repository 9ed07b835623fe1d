import type { CheckResult } from '@agentci/results';
import { expect, test } from 'vitest';
import { answerMarks } from './answer-marks.ts';

const check = (key: string, rest: Partial<CheckResult> = {}): CheckResult => ({
  id: `correctness.${key}`,
  status: 'fail',
  message: '',
  evidence: [],
  ...rest,
});
const marked = (
  answer: string,
  details: Record<string, unknown>,
  checks: CheckResult[],
): string[] =>
  answerMarks(answer, { details, checks }).map(
    ({ start, end, kind }) => `${kind} ${answer.slice(start, end)}`,
  );

test.each([
  {
    what: 'forbidden terms in any case',
    answer: 'Create an ALB. An alb is fine.',
    details: { not_in_answer: { checked: ['alb', 'listener'] } },
    checks: [check('not_in_answer', { value: 1 })],
    marks: ['forbidden ALB', 'forbidden alb'],
  },
  {
    what: 'terms that were found, and not one that differs in case where case counts',
    answer: 'use Vitest or jest',
    details: { expected_in_answer: { checked: ['vitest', 'jest'] } },
    checks: [check('expected_in_answer', { value: 1 })],
    marks: ['expected jest'],
  },
  {
    what: 'a term across a line break',
    answer: 'a target\n  group',
    details: { not_in_answer: { checked: ['target group'] } },
    checks: [check('not_in_answer', { value: 1 })],
    marks: ['forbidden target\n  group'],
  },
  {
    what: 'the first word that differs from the exact text',
    answer: ' Paris, France',
    details: {},
    checks: [check('exact_match', { limit: 'Paris, Texas' })],
    marks: ['forbidden France'],
  },
  {
    what: 'nothing if only the start of a long exact text is known',
    answer: 'Paris and more',
    details: {},
    checks: [check('exact_match', { limit: 'Paris and…' })],
    marks: [],
  },
  {
    what: 'what a failed check quotes from the answer',
    answer: 'call 555 0100 now',
    details: {},
    checks: [check('custom', { evidence: [{ text: '…555 0100…' }] })],
    marks: ['forbidden 555 0100'],
  },
  {
    what: 'what a pattern matched',
    answer: 'order 1182 is out',
    details: {},
    checks: [check('regex_match', { status: 'pass', value: 'order 1182' })],
    marks: ['expected order 1182'],
  },
  {
    what: 'nothing for details that are not what they should be',
    answer: 'x',
    details: { not_in_answer: { checked: [1, null, ' '] }, expected_in_answer: null },
    checks: [],
    marks: [],
  },
])('it marks $what', ({ answer, details, checks, marks }) => {
  expect(marked(answer, details, checks)).toEqual(marks);
});

test.each([
  ['other cases of one letter', 'Die STRAẞE ist frei', 'straße', 'STRAẞE'],
  ['two letters for one', 'Die Strasse ist frei', 'Straße', 'Strasse'],
  ['accents written apart', 'un cafe\u0301 noir', 'caf\u00e9', 'cafe\u0301'],
  ['a character that is not seen', 'the re\u200bfund is due', 'refund', 're\u200bfund'],
  ['the plain case', 'The Refund is due', 'refund', 'Refund'],
])('marks a word where a check found it: %s', (_, answer, term, marked) => {
  const found = answerMarks(answer, {
    details: { expected_in_answer: { checked: [term] } },
    checks: [],
  });
  expect(found.map(({ start, end }) => answer.slice(start, end))).toEqual([marked]);
});
