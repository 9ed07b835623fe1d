import { called, describeCheck, evaluate } from '@agentci/testing/check-cases';
import { expect, test } from 'vitest';
import { check } from './expected-tools.ts';

describeCheck(check, {
  sample: { params: ['a'], keeps: called('a', 'b'), breaks: called('b') },
  verdicts: [
    {
      when: 'nothing is expected and a tool is called',
      block: { expected_tools: [] },
      run: ['a'],
      status: 'warn',
    },
    {
      when: 'nothing is expected and nothing called',
      block: { expected_tools: [] },
      run: [],
      status: 'pass',
    },
    {
      when: 'one of two is missing',
      block: { expected_tools: ['a', 'b'] },
      run: ['a'],
      status: 'warn',
    },
    {
      when: 'min_tool_recall replaces that bound',
      block: { expected_tools: ['a', 'b'], min_tool_recall: 0.5 },
      run: ['a'],
      status: 'pass',
    },
    {
      when: 'extra tools do not count without min_tool_precision',
      block: { expected_tools: ['a'] },
      run: ['a', 'x', 'y'],
      status: 'pass',
    },
  ],
  inPart: [
    { block: { expected_tools: ['a'] }, run: ['a'], status: 'pass' },
    { block: { expected_tools: ['a'] }, run: ['b'], status: 'skip: not_measured' },
    { block: { expected_tools: [] }, run: ['b'], status: 'warn' },
    { block: { expected_tools: [] }, run: [], status: 'skip: not_measured' },
  ],
  issues: [
    { block: { expected_tools: [] }, found: [] },
    {
      block: { expected_tools: [], expected_tool_sequence: ['a'] },
      found: ['error SPEC_CONTRADICTION'],
    },
    { block: { expected_tools: [''] }, found: ['error SPEC_EMPTY 0'] },
  ],
});

test.each([
  { expected_tools: ['a', 'b'], used: ['a', 'c'], tool_f1: 0.5 },
  { expected_tools: ['a'], used: ['a'], tool_f1: 1 },
  { expected_tools: [], used: [], tool_f1: 1 },
  { expected_tools: [], used: ['a'], tool_f1: 0 },
])(
  'tool_f1 is in the details whenever expected_tools is: $tool_f1',
  ({ expected_tools, used, tool_f1 }) => {
    expect(evaluate('path', { expected_tools }, called(...used)).details).toMatchObject({
      tool_f1,
    });
  },
);
