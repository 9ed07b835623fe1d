import type { QueryResult } from './run-result.ts';
import { usedBy } from './stored-result.ts';

export type UsageKey = 'cost_usd' | 'total_tokens' | 'latency_ms';

/** Resource use of a query, per known number. */
export type Usage = { readonly [key in UsageKey]?: number | null | undefined };

const KEYS: readonly UsageKey[] = ['cost_usd', 'total_tokens', 'latency_ms'];

/** The usage of each run of a query. The layers have only the numbers of the shown run. */
export const usageOfRuns = (result: QueryResult): readonly Usage[] =>
  result.runs ?? [usedBy(result)];

const known = (runs: readonly Usage[], key: UsageKey): number[] =>
  runs.flatMap((run) =>
    typeof run[key] === 'number' && Number.isFinite(run[key]) ? [run[key]] : [],
  );

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Means over the runs with a known number. Null if there is none. */
export function usagePerRun(result: QueryResult): Usage {
  const runs = usageOfRuns(result);
  return Object.fromEntries(
    KEYS.map((key) => {
      const values = known(runs, key);
      return [key, values.length === 0 ? null : total(values) / values.length];
    }),
  );
}

/** The total over all runs of all queries, and the number of runs that know it. */
export function usageInAll(results: readonly QueryResult[], key: UsageKey) {
  const runs = results.flatMap(usageOfRuns);
  const values = known(runs, key);
  return {
    values,
    sum: values.length === 0 ? null : total(values),
    known: values.length,
    of: runs.length,
  };
}
