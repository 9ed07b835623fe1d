import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './max-tool-errors.ts';

const good = { name: 'a', result: 'r' };
const bad = { name: 'b', error: 'no' };
const calls = (...tool_calls: unknown[]) => ({ answer: 'ok', tool_calls });

describeCheck(check, {
  sample: { params: 0, keeps: calls(good), breaks: calls(good, bad) },
  verdicts: [
    {
      when: 'as many as allowed',
      block: { max_tool_errors: 1 },
      run: calls(bad, good),
      status: 'pass',
    },
    { when: 'no calls', block: { max_tool_errors: 0 }, run: calls(), status: 'pass' },
    {
      when: 'how a call ended is not known',
      block: { max_tool_errors: 0 },
      run: calls({ name: 'a' }),
      status: 'skip: not_measured',
    },
    {
      when: 'too many are known',
      block: { max_tool_errors: 0 },
      run: calls(bad, { name: 'a' }),
      status: 'warn',
    },
    {
      when: 'a call that was refused',
      block: { max_tool_errors: 0 },
      run: calls({ name: 'a', status: 'denied' }),
      status: 'warn',
    },
  ],
  inPart: [
    { block: { max_tool_errors: 0 }, run: calls(good), status: 'skip: not_measured' },
    { block: { max_tool_errors: 0 }, run: calls(bad), status: 'warn' },
  ],
  refuses: [-1, 1.5],
});
