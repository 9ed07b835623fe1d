import { called, describeCheck } from '@agentci/testing/check-cases';
import { check } from './min-tool-f1.ts';

describeCheck(check, {
  sample: {
    params: 0.8,
    keeps: called('a', 'b', 'c'),
    breaks: called('a'),
    siblings: { expected_tools: ['a', 'b'], min_tool_recall: 0.1 },
  },
  inPart: [
    {
      block: { min_tool_f1: 0.5, expected_tools: ['a', 'b'] },
      run: ['a'],
      status: 'skip: not_measured',
    },
  ],
  issues: [{ block: { min_tool_f1: 1 }, found: ['error SPEC_NEEDS_KEY'] }],
});
