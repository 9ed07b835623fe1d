export { align } from './align.ts';
export { OF_CELLS } from './compare-metrics.ts';
export { compareRuns } from './compare-runs.ts';
export type { DiffInput, DiffQuery } from './compare-traces.ts';
export { diffReport } from './diff-report.ts';
export { firstDivergence } from './first-divergence.ts';
export {
  CHANGE_METRICS,
  type ChangeMetric,
  type QueryChange,
  type QueryValues,
  queryChanges,
} from './query-changes.ts';
export { findRegressions, type RegressionCheck } from './regression-thresholds.ts';
export { compareSamples, type SampleRegression } from './sample-regression.ts';
export { textDiff } from './text-diff.ts';
