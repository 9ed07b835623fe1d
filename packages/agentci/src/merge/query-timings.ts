import type { QueryResult } from '@agentci/results';
import { usedBy } from '@agentci/results';

/**
 * Milliseconds per repeat of each query by id, over its cells and repeats. Omits unknown durations.
 */
export function timingsOf(results: readonly QueryResult[]): Map<string, number> {
  const sums = new Map<string, { ms: number; runs: number }>();
  for (const result of results)
    for (const ms of latenciesOf(result)) {
      if (typeof ms !== 'number' || !Number.isFinite(ms) || ms < 0) continue;
      const sum = sums.get(result.id) ?? { ms: 0, runs: 0 };
      sums.set(result.id, { ms: sum.ms + ms, runs: sum.runs + 1 });
    }
  return new Map([...sums].map(([id, { ms, runs }]) => [id, Math.round(ms / runs)]));
}

const latenciesOf = (result: QueryResult): (number | null | undefined)[] =>
  result.runs === undefined
    ? [usedBy(result).latency_ms]
    : result.runs.map(({ latency_ms }) => latency_ms);
