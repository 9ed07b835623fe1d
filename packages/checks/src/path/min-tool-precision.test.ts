import { called, describeCheck } from '@agentci/testing/check-cases';
import { check } from './min-tool-precision.ts';

describeCheck(check, {
  sample: {
    params: 0.5,
    keeps: called('a', 'x'),
    breaks: called('a', 'x', 'y'),
    siblings: { expected_tools: ['a'], min_tool_recall: 0.1 },
  },
  verdicts: [
    {
      when: 'no calls and something expected',
      block: { expected_tools: ['a'], min_tool_precision: 0.1 },
      run: [],
      status: 'warn',
    },
    {
      when: 'no calls and nothing expected',
      block: { expected_tools: [], min_tool_precision: 1 },
      run: [],
      status: 'pass',
    },
  ],
  inPart: [
    {
      block: { min_tool_precision: 0.5, expected_tools: ['a', 'b'] },
      run: ['a'],
      status: 'skip: not_measured',
    },
  ],
  issues: [{ block: { min_tool_precision: 1 }, found: ['error SPEC_NEEDS_KEY'] }],
});
