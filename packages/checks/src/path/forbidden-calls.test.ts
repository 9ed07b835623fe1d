import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './forbidden-calls.ts';

const rm = (args?: unknown) => ({ name: 'rm', ...(args === undefined ? {} : { args }) });
const calls = (...tool_calls: unknown[]) => ({ answer: 'ok', tool_calls });
const block = { forbidden_calls: [{ tool: 'rm', args: { path: { regex: '^/' } } }] };

describeCheck(check, {
  sample: {
    params: block.forbidden_calls,
    keeps: calls(rm({ path: 'tmp' })),
    breaks: calls(rm({ path: '/', force: true })),
  },
  verdicts: [
    {
      when: 'without args every call of the tool',
      block: { forbidden_calls: [{ tool: 'r*' }] },
      run: ['rm'],
      status: 'fail',
    },
    {
      when: 'under the name of its server',
      block,
      run: calls({ name: 'mcp__fs__rm', args: { path: '/' } }),
      status: 'fail',
    },
    {
      when: 'under a name joined to a server',
      block,
      run: calls({ name: 'fs.rm', args: { path: '/' } }),
      status: 'fail',
    },
    { when: 'the arguments were not captured', block, run: calls(rm()), status: 'error' },
    { when: 'another call was', block, run: calls(rm(), rm({ path: '/x' })), status: 'fail' },
    {
      when: 'severity of the block does not soften it',
      block: { ...block, severity: 'warn' },
      run: calls(rm({ path: '/' })),
      status: 'fail',
    },
  ],
  inPart: [
    { block, run: calls(rm({ path: 'tmp' })), status: 'error' },
    { block, run: calls(rm({ path: '/' })), status: 'fail' },
  ],
  issues: [
    { block: { forbidden_calls: [] }, found: ['error SPEC_CANNOT_FAIL'] },
    { block: { forbidden_calls: [{ tool: '' }] }, found: ['error SPEC_EMPTY 0.tool'] },
    {
      block: { forbidden_calls: [{ tool: 'a', args: { x: { regex: '(' } } }] },
      found: ['error SPEC_BAD_PATTERN 0.args.x.regex'],
    },
  ],
  refuses: [{ tool: 'a' }, [{ args: {} }], ['a']],
});
