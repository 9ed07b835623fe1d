import type { QueryResult } from '@agentci/results';
import { caseKey } from '@agentci/results';
import type { Suite } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import type { RunOptions } from './run-options.ts';
import { runSuite } from './run-suite.ts';

/** A trace and the query it belongs to. */
export interface RecordedQuery {
  /** The `caseKey` of the query. */
  readonly queryId: string;
  readonly trace: Trace;
}

/**
 * The suite for judging traces individually: one run per query, no expected failures, and no
 * baseline, which would have to exist before the first one can be saved.
 */
export function bareSuite(suite: Suite): Suite {
  const { baseline: _, ...rest } = suite;
  return {
    ...rest,
    queries: suite.queries.map(({ xfail: __, skip: ___, ...query }) => ({
      ...query,
      runs: 1,
      minPassRate: 1,
    })),
  };
}

/**
 * The verdict on each trace by its query's checks alone, without baselines, by `caseKey`. Rubrics
 * need a judge.
 */
export async function evaluateRecorded(
  recorded: readonly RecordedQuery[],
  options: Omit<RunOptions, 'traces' | 'ids' | 'runs'>,
): Promise<Map<string, QueryResult>> {
  if (recorded.length === 0) return new Map();
  const byKey = new Map(options.suite.queries.map((query) => [caseKey(query), query]));
  const named = recorded.flatMap(({ queryId, trace }) => {
    const query = byKey.get(queryId);
    return query === undefined ? [] : [{ query, trace }];
  });
  const { results } = await runSuite({
    judge: 'off',
    ...options,
    ignoresBaselines: true,
    suite: bareSuite(options.suite),
    runs: 1,
    only: named.map(({ query }) => query),
    traces: named.map(({ query: { id, cell }, trace }) => ({
      ...trace,
      task: { ...trace.task, id },
      meta: cell === undefined ? trace.meta : { ...trace.meta, cell },
    })),
  });
  return new Map(results.map((result) => [caseKey(result), result]));
}
