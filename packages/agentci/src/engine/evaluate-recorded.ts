import type { QueryResult } from '../results/run-result.ts';
import type { Suite } from '../spec/suite.ts';
import type { Trace } from '../trace/model.ts';
import type { RunOptions } from './run-options.ts';
import { runSuite } from './run-suite.ts';

/** A trace and the query it belongs to. */
export interface RecordedQuery {
  readonly queryId: string;
  readonly trace: Trace;
}

/**
 * The suite for judging traces on their own: one run per query, no expected failures, no baseline that would have to exist
 * before the first one can be saved.
 */
export function bareSuite(suite: Suite): Suite {
  const { baseline: _, ...rest } = suite;
  return { ...rest, queries: suite.queries.map(({ xfail: __, ...query }) => ({ ...query, runs: 1, minPassRate: 1 })) };
}

/** The verdict on each trace by its query's checks alone, without any baseline; rubrics are asked only when a judge is given. */
export async function evaluateRecorded(
  recorded: readonly RecordedQuery[],
  options: Omit<RunOptions, 'traces' | 'ids' | 'runs'>,
): Promise<Map<string, QueryResult>> {
  if (recorded.length === 0) return new Map();
  const { results } = await runSuite({
    judge: 'off',
    ...options,
    ignoresBaselines: true,
    suite: bareSuite(options.suite),
    runs: 1,
    ids: recorded.map(({ queryId }) => queryId),
    traces: recorded.map(({ queryId, trace }) => ({ ...trace, task: { ...trace.task, id: queryId } })),
  });
  return new Map(results.map((result) => [result.id, result]));
}
