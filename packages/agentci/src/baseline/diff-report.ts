import { DIFF_SCHEMA, type DiffReport, type MetricDelta, type QueryDiff } from '../results/diff.ts';
import type { CheckStatus } from '../results/run-result.ts';
import { compareMetrics, type Observation } from './compare-metrics.ts';
import { nothingGated } from './regressions.ts';

/** Puts the diffs of all queries into one report with its exit code: 1 for a regression, 2 where it cannot be told. */
export function diffReport(
  input: Pick<
    DiffReport,
    'agent' | 'from_version' | 'to_version' | 'queries' | 'only_before' | 'only_after' | 'notices'
  > & {
    readonly spec?: DiffReport['spec'];
    readonly maxRegressionPercent?: number;
  },
): DiffReport {
  const { queries, maxRegressionPercent, spec, ...rest } = input;
  const regressions = queries.reduce((sum, query) => sum + query.regressions.length, 0);
  const cannotTell =
    queries.length === 0 ||
    queries.some(
      ({ verdict }) => verdict.after === 'error' || (verdict.before === 'error' && verdict.after === 'fail'),
    ) ||
    (maxRegressionPercent !== undefined && queries.every(nothingGated));
  return {
    schema: DIFF_SCHEMA,
    ...rest,
    ...(spec ? { spec } : {}),
    max_regression_percent: maxRegressionPercent ?? null,
    queries,
    ...(queries.length > 1
      ? { comparison: compareMetrics(observe(queries, 'before'), observe(queries, 'after')) }
      : {}),
    summary: {
      compared: queries.length,
      changed: queries.filter((query) => query.layers.length > 0).length,
      regressions,
      exit_code: regressions > 0 ? 1 : cannotTell ? 2 : 0,
    },
  };
}

function observe(queries: readonly QueryDiff[], side: 'before' | 'after'): Map<string, Observation> {
  return new Map(
    queries.map(({ id, correctness, path, cost }) => {
      const metrics = new Map<string, readonly number[]>();
      const rows: [string, MetricDelta][] = [['tool_calls', path.tool_calls], ...Object.entries(cost)];
      for (const [name, delta] of rows) if (delta[side] !== null) metrics.set(name, [delta[side]]);
      return [id, { verdicts: verdictOf(correctness[side]), metrics }];
    }),
  );
}

const verdictOf = (status: CheckStatus | null): number[] =>
  status === 'pass' || status === 'warn' ? [1] : status === 'fail' ? [0] : [];
