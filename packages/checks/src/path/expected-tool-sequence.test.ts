import { called, describeCheck } from '@agentci/testing/check-cases';
import { check } from './expected-tool-sequence.ts';

describeCheck(check, {
  sample: { params: ['a', 'b'], keeps: called('a', 'x', 'b'), breaks: called('b', 'a') },
  verdicts: [
    {
      when: 'multiplicity counts',
      block: { expected_tool_sequence: ['a', 'a'] },
      run: ['a', 'b'],
      status: 'warn',
    },
  ],
  inPart: [
    { block: { expected_tool_sequence: ['a', 'b'] }, run: ['a', 'b'], status: 'pass' },
    {
      block: { expected_tool_sequence: ['a', 'b'] },
      run: ['b', 'a'],
      status: 'skip: not_measured',
    },
  ],
  issues: [{ block: { expected_tool_sequence: [] }, found: ['error SPEC_CANNOT_FAIL'] }],
});
