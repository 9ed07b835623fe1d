import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './max-identical-calls.ts';

const call = (q: number, extra = {}) => ({ name: 'search', args: { q, page: 1 }, ...extra });
const calls = (...tool_calls: unknown[]) => ({ answer: 'ok', tool_calls });

describeCheck(check, {
  sample: { params: 1, keeps: calls(call(1), call(2)), breaks: calls(call(1), call(2), call(1)) },
  verdicts: [
    {
      when: 'the order of keys does not count',
      block: { max_identical_calls: 1 },
      run: calls(call(1), { name: 'search', args: { page: 1, q: 1 } }),
      status: 'warn',
    },
    {
      when: 'another tool is another call',
      block: { max_identical_calls: 1 },
      run: calls(call(1), { name: 'find', args: { q: 1, page: 1 } }),
      status: 'pass',
    },
    {
      when: 'arguments that were not captured may be the same',
      block: { max_identical_calls: 1 },
      run: calls({ name: 'a' }, { name: 'a' }),
      status: 'skip: not_measured',
    },
    {
      when: 'too few calls to make a difference',
      block: { max_identical_calls: 2 },
      run: calls({ name: 'a' }, { name: 'a' }),
      status: 'pass',
    },
    {
      when: 'enough are known',
      block: { max_identical_calls: 1 },
      run: calls(call(1), call(1), { name: 'search' }),
      status: 'warn',
    },
  ],
  inPart: [
    { block: { max_identical_calls: 1 }, run: calls(call(1)), status: 'skip: not_measured' },
    { block: { max_identical_calls: 1 }, run: calls(call(1), call(1)), status: 'warn' },
  ],
  refuses: [0, -1, 1.5, 'x'],
});
