import { describeCheck } from '@agentci/testing/check-cases';
import { check as any } from './any-expected-in-answer.ts';
import { setting } from './case-sensitive.ts';
import { check as expected } from './expected-in-answer.ts';
import { check as forbidden } from './not-in-answer.ts';
import { check as start } from './starts-with.ts';

describeCheck(setting, {
  issues: [
    { block: { case_sensitive: true, not_in_answer: ['x'] }, found: [] },
    { block: { case_sensitive: true }, found: ['error SPEC_NEEDS_KEY'] },
  ],
  refuses: ['yes', 1, null],
});

const run = { answer: 'Refund  policy: 30 DAYS' };
const rows = (
  key: string,
  is: (terms: string) => unknown,
  told: { same: string; other: string },
) => ({
  verdicts: [
    {
      when: 'case counts if enabled',
      block: { [key]: is('30 days'), case_sensitive: true },
      run,
      status: told.other,
    },
    {
      when: 'the same case',
      block: { [key]: is('30 DAYS'), case_sensitive: true },
      run,
      status: told.same,
    },
    {
      when: 'what does not show still does not count',
      block: { [key]: is('Refund policy'), case_sensitive: true },
      run,
      status: told.same,
    },
    {
      when: 'false is the default',
      block: { [key]: is('30 days'), case_sensitive: false },
      run,
      status: told.same,
    },
  ],
});
describeCheck(
  expected,
  rows('expected_in_answer', (term) => [term], { same: 'pass', other: 'fail' }),
);
describeCheck(
  any,
  rows('any_expected_in_answer', (term) => [term], { same: 'pass', other: 'fail' }),
);
describeCheck(forbidden, {
  ...rows('not_in_answer', (term) => [term], { same: 'fail', other: 'pass' }),
  issues: [
    {
      block: { not_in_answer: ['ok'], expected_in_answer: ['OK'] },
      found: ['error SPEC_CONTRADICTION 0'],
    },
    {
      block: { not_in_answer: ['ok'], expected_in_answer: ['OK'], case_sensitive: true },
      found: [],
    },
  ],
});
describeCheck(start, {
  verdicts: [
    {
      when: 'case counts if enabled',
      block: { starts_with: 'refund', case_sensitive: true },
      run,
      status: 'fail',
    },
    { when: 'it does not otherwise', block: { starts_with: 'refund' }, run, status: 'pass' },
  ],
});
