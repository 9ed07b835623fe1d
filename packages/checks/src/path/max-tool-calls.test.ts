import { called, describeCheck } from '@agentci/testing/check-cases';
import { check } from './max-tool-calls.ts';

describeCheck(check, {
  sample: { params: 1, keeps: called('a'), breaks: called('a', 'b') },
  inPart: [
    { block: { max_tool_calls: 1 }, run: ['a', 'b'], status: 'warn' },
    { block: { max_tool_calls: 2 }, run: ['a', 'b'], status: 'skip: not_measured' },
  ],
  issues: [
    { block: { max_tool_calls: 0, expected_tools: ['a'] }, found: ['error SPEC_CONTRADICTION'] },
    { block: { max_tool_calls: 0 }, found: [] },
  ],
  refuses: [-1, 1.5],
});
