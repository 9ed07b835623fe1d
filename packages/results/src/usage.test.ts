import { runOf } from '@agentci/testing/run-of';
import { expect, test } from 'vitest';
import { usageInAll, usagePerRun } from './usage.ts';

const run = (cost_usd: number | null, latency_ms: number) => ({
  run: 1,
  status: 'pass' as const,
  messages: [],
  total_tokens: null,
  cost_usd,
  latency_ms,
});

test('numbers of a query are means over its runs, totals are of all runs', () => {
  const { results } = runOf([
    { id: 'a', status: 'pass' },
    { id: 'b', status: 'pass' },
  ]);
  results[0]!.cost.details.actual = { cost_usd: 0.01, latency_ms: 10 };
  results[0]!.runs = [run(0.01, 10), run(0.03, 30), run(null, 20)];
  results[1]!.cost.details.actual = { cost_usd: 0.06, latency_ms: 40 };
  expect(usagePerRun(results[0]!)).toEqual({ cost_usd: 0.02, total_tokens: null, latency_ms: 20 });
  expect(usagePerRun(results[1]!)).toEqual({ cost_usd: 0.06, total_tokens: null, latency_ms: 40 });
  expect(usageInAll(results, 'cost_usd')).toMatchObject({
    sum: expect.closeTo(0.1, 12),
    known: 3,
    of: 4,
  });
  expect(usageInAll(results, 'total_tokens')).toMatchObject({ sum: null, known: 0, of: 4 });
});
