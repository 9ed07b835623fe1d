import { called, describeCheck } from '@agentci/testing/check-cases';
import { check } from './min-tool-recall.ts';

describeCheck(check, {
  sample: {
    params: 0.5,
    keeps: called('a'),
    breaks: called('x'),
    siblings: { expected_tools: ['a', 'b'] },
  },
  inPart: [
    { block: { min_tool_recall: 0.5, expected_tools: ['a', 'b'] }, run: ['a'], status: 'pass' },
    {
      block: { min_tool_recall: 1, expected_tools: ['a', 'b'] },
      run: ['a'],
      status: 'skip: not_measured',
    },
  ],
  issues: [
    { block: { min_tool_recall: 0, expected_tools: ['a'] }, found: ['warning SPEC_CANNOT_FAIL'] },
    { block: { min_tool_recall: 1 }, found: ['error SPEC_NEEDS_KEY'] },
  ],
  refuses: [1.5],
});
