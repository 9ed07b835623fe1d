import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './starts-with.ts';

describeCheck(check, {
  sample: { params: 'Dear', keeps: { answer: 'dear Ann' }, breaks: { answer: 'Hi, dear Ann' } },
  verdicts: [
    {
      when: 'white space before it does not count',
      block: { starts_with: '{' },
      run: { answer: '\n\n {"a": 1}' },
      status: 'pass',
    },
    {
      when: 'invisible characters do not count',
      block: { starts_with: 'Dear' },
      run: { answer: '\u200bDe\u00adar' },
      status: 'pass',
    },
    {
      when: 'a shorter answer',
      block: { starts_with: 'Dear Ann' },
      run: { answer: 'Dear' },
      status: 'fail',
    },
  ],
  issues: [
    { block: { starts_with: ' \u200b' }, found: [' SPEC_CANNOT_FAIL'] },
    { block: { starts_with: 'x' }, found: [] },
  ],
  refuses: [7, ['a'], null],
});
