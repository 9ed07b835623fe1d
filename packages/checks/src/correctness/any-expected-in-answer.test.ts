import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './any-expected-in-answer.ts';

describeCheck(check, {
  sample: { params: ['a', 'b'], keeps: { answer: 'B' }, breaks: { answer: 'c' } },
  verdicts: [
    {
      when: 'there is no final answer',
      block: { any_expected_in_answer: ['a'] },
      run: { tool_calls: [] },
      status: 'error',
    },
    {
      when: 'the last of many is there',
      block: { any_expected_in_answer: ['x', 'y', 'z'] },
      run: { answer: 'Z' },
      status: 'pass',
    },
  ],
  issues: [{ block: { any_expected_in_answer: [] }, found: ['error SPEC_CANNOT_FAIL'] }],
  refuses: ['text'],
});
