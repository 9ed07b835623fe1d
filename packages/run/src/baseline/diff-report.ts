import { DIFF_SCHEMA, type DiffReport, type RunComparison } from '@agentci/results';
import { nothingGated } from './regressions.ts';

/** Joins the diffs of all queries into one report. Exit code 1: a regression. 2: could not tell. */
export function diffReport(
  input: Pick<DiffReport, 'agent' | 'from_version' | 'to_version' | 'queries' | 'notices'> & {
    /** Comparison of both versions as a whole, shown by every report. */
    readonly comparison: RunComparison;
    readonly spec?: DiffReport['spec'];
    readonly maxRegressionPercent?: number;
  },
): DiffReport {
  const { queries, maxRegressionPercent, spec, comparison, ...rest } = input;
  const { only_before, only_after, verdict, headline, metrics } = comparison;
  const regressions = queries.reduce((sum, query) => sum + query.regressions.length, 0);
  const cannotTell =
    queries.length === 0 ||
    queries.some(
      ({ verdict: { before, after } }) =>
        after === 'error' || (before === 'error' && after === 'fail'),
    ) ||
    (maxRegressionPercent !== undefined && queries.every(nothingGated));
  let exit_code: number;
  if (regressions > 0) exit_code = 1;
  else if (cannotTell) exit_code = 2;
  else exit_code = 0;
  return {
    schema: DIFF_SCHEMA,
    ...rest,
    spec,
    max_regression_percent: maxRegressionPercent ?? null,
    queries,
    only_before,
    only_after,
    verdict,
    headline,
    comparison: queries.length > 1 ? metrics : undefined,
    summary: {
      compared: queries.length,
      changed: queries.filter((query) => query.layers.length > 0).length,
      regressions,
      exit_code,
    },
  };
}
