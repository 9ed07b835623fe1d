import type { QueryResult } from './run-result.ts';
import { usedBy } from './stored-result.ts';

export type UsageKey = 'cost_usd' | 'total_tokens' | 'latency_ms';

/** What a query used: each number where some run of it knows it. */
export type Usage = { readonly [key in UsageKey]?: number | null | undefined };

const KEYS: readonly UsageKey[] = ['cost_usd', 'total_tokens', 'latency_ms'];

/** Each run of a query by itself. The numbers of the layers are those of the one run that is shown. */
export const usageOfRuns = (result: QueryResult): readonly Usage[] =>
  result.runs ?? [usedBy(result)];

const known = (runs: readonly Usage[], key: UsageKey): number[] =>
  runs.flatMap((run) =>
    typeof run[key] === 'number' && Number.isFinite(run[key]) ? [run[key]] : [],
  );

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** The mean over the runs of a query that know a number; null where none does. */
export function usagePerRun(result: QueryResult): Usage {
  const runs = usageOfRuns(result);
  return Object.fromEntries(
    KEYS.map((key) => {
      const values = known(runs, key);
      return [key, values.length === 0 ? null : total(values) / values.length];
    }),
  );
}

/** All runs of all queries together, and how many of them know the number. */
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
