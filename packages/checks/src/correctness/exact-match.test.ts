import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './exact-match.ts';

describeCheck(check, {
  sample: { params: 'ok', keeps: { answer: ' ok\n' }, breaks: { answer: 'OK' } },
  verdicts: [
    {
      when: 'there is no final answer',
      block: { exact_match: 'a' },
      run: { tool_calls: [] },
      status: 'error',
    },
    { when: 'case counts', block: { exact_match: 'PIP' }, run: { answer: 'pip' }, status: 'fail' },
  ],
});
