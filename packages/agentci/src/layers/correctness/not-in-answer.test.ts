import { expect, test } from 'vitest';
import { describeCheck, evaluate } from '../../../test/support/check-cases.ts';
import { check } from './not-in-answer.ts';

describeCheck(check, {
  sample: { params: ['secret'], keeps: { answer: 'ok' }, breaks: { answer: 'the SECRET' } },
  verdicts: [
    { when: 'there is no final answer', block: { not_in_answer: ['b'] }, run: { tool_calls: [] }, status: 'error' },
    { when: 'an empty answer is an answer', block: { not_in_answer: ['x'] }, run: { answer: '' }, status: 'pass' },
  ],
  issues: [
    { block: { not_in_answer: [] }, found: ['error SPEC_CANNOT_FAIL'] },
    {
      block: { not_in_answer: ['Secret'], expected_in_answer: ['the SECRET'] },
      found: ['error SPEC_CONTRADICTION 0'],
    },
    { block: { not_in_answer: ['a'], any_expected_in_answer: ['ba', 'ca'] }, found: ['error SPEC_CONTRADICTION 0'] },
    { block: { not_in_answer: ['a'], any_expected_in_answer: ['ba', 'c'] }, found: [] },
    {
      block: { not_in_answer: ['\u200b\ufeff ', 'se\u00adcret', '👨\u200d👩\u200d👧'] },
      found: ['error SPEC_BLANK 0', 'warning SPEC_INVISIBLE 1'],
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
