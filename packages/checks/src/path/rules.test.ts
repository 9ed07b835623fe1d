import { called, describeCheck } from '@agentci/testing/check-cases';
import { check } from './rules.ts';

describeCheck(check, {
  sample: {
    params: [{ type: 'before', first: 'a', then: 'b' }],
    keeps: called('a', 'b'),
    breaks: called('b', 'a'),
  },
  verdicts: [
    {
      when: 'one of two rules is broken',
      block: {
        rules: [
          { type: 'require', tool: 'a' },
          { type: 'max_calls', tool: 'a', max: 1 },
        ],
      },
      run: ['a', 'a'],
      status: 'fail',
    },
    {
      when: 'calls are missing from the recording',
      block: { rules: [{ type: 'require', tool: 'a' }] },
      run: ['a'],
      captured: { toolCalls: 'partial' },
      status: 'error',
    },
  ],
});
