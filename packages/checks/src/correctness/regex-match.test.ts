import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './regex-match.ts';

describeCheck(check, {
  sample: { params: '^o+k$', keeps: { answer: 'ook' }, breaks: { answer: 'Ok' } },
  verdicts: [
    {
      when: 'there is no final answer',
      block: { regex_match: 'a' },
      run: { tool_calls: [] },
      status: 'error',
    },
    { when: 'case counts', block: { regex_match: 'PIP' }, run: { answer: 'pip' }, status: 'fail' },
    {
      when: "Python's syntax is read",
      block: { regex_match: '(?i)\\A(?P<tool>PIP)\\Z' },
      run: { answer: 'pip' },
      status: 'pass',
    },
    {
      when: 'a pattern that runs out of time gives no verdict',
      block: { regex_match: '^(?=(a|aa)+$)' },
      run: { answer: `${'a'.repeat(60)}!` },
      status: 'error',
    },
  ],
  issues: [
    { block: { regex_match: '' }, found: ['error SPEC_CANNOT_FAIL'] },
    { block: { regex_match: '(' }, found: ['error SPEC_BAD_PATTERN'] },
    { block: { regex_match: '.*' }, found: ['warning SPEC_CANNOT_FAIL'] },
  ],
});
