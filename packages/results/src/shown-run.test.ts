import { expect, test } from 'vitest';
import type { CheckStatus, RunSummary } from './run-result.ts';
import { shownRunText } from './shown-run.ts';

const runs = (...statuses: CheckStatus[]) =>
  statuses.map((status, i) => ({ run: i + 1, status, messages: [] }) as unknown as RunSummary);

test.each([
  {
    what: 'the second fails',
    of: runs('pass', 'fail'),
    rate: { passed: 1, decided: 2, min: 0.5 },
    text: '1 of 2 runs passed (min_pass_rate 50 %); shown: run 2, the worst',
  },
  {
    what: 'two fail: the first of them',
    of: runs('pass', 'fail', 'fail'),
    rate: { passed: 1, decided: 3, min: 0.9 },
    text: '1 of 3 runs passed (min_pass_rate 90 %); shown: run 2, the worst',
  },
  {
    what: 'all alike',
    of: runs('pass', 'pass'),
    rate: { passed: 2, decided: 2, min: 1 },
    text: '2 of 2 runs passed (min_pass_rate 100 %); shown: run 1',
  },
  { what: 'one run', of: runs('fail'), rate: { passed: 0, decided: 1, min: 1 }, text: undefined },
])('$what: $text', ({ of, rate, text }) => {
  expect(shownRunText({ runs: of, pass_rate: rate })).toBe(text);
});
