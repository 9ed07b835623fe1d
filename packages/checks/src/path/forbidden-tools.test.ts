import { called, describeCheck } from '@agentci/testing/check-cases';
import { check } from './forbidden-tools.ts';

const BAD_GLOBS = ['^rm$', 'rm,ls', 'rm ls', '!rm', '{rm,ls}', 'rm ', 'ls - rm'];

describeCheck(check, {
  sample: { params: ['admin_*'], keeps: called('a'), breaks: called('a', 'admin_drop') },
  verdicts: [
    { when: 'a glob matches', block: { forbidden_tools: ['a*b'] }, run: ['axxb'], status: 'fail' },
  ],
  inPart: [
    { block: { forbidden_tools: ['bad'] }, run: ['bad'], status: 'fail' },
    { block: { forbidden_tools: ['bad'] }, run: ['ok'], status: 'error' },
  ],
  issues: [
    { block: { forbidden_tools: ['delete', 'dr\u200bop'] }, found: ['warning SPEC_INVISIBLE 1'] },
    {
      block: { forbidden_tools: BAD_GLOBS },
      found: BAD_GLOBS.map((_, i) => `error SPEC_BAD_PATTERN ${i}`),
    },
    {
      block: {
        forbidden_tools: ['functions.*', 'server/tool', 'a_[bc]?', 'mcp__x__*', 'say?hello', '*'],
      },
      found: [],
    },
    { block: { forbidden_tools: [] }, found: ['error SPEC_CANNOT_FAIL'] },
    {
      block: { forbidden_tools: ['x', 'adm*'], expected_tools: ['admin'] },
      found: ['error SPEC_CONTRADICTION 1'],
    },
    {
      block: { forbidden_tools: ['t'], expected_tool_args: [{ tool: 't', args: {} }, null] },
      found: ['error SPEC_CONTRADICTION 0'],
    },
  ],
});
