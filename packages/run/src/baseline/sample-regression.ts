import { cohensD, mean, welchT } from '@agentci/stats';

const ALPHA = 0.05;
const SMALLEST_PERCENT = 5;
const MAJOR_PERCENT = 10;
const CRITICAL_PERCENT = 20;

export interface SampleRegression {
  /** `null`: could not tell, because a sample has fewer than two values. */
  readonly is_regression: boolean | null;
  readonly severity: 'none' | 'minor' | 'major' | 'critical' | null;
  readonly baseline_mean: number | null;
  readonly new_mean: number | null;
  readonly difference: number | null;
  /** `null` if the baseline is zero. */
  readonly percent_change: number | null;
  /** `null` if the samples are too small or do not vary. */
  readonly p_value: number | null;
  readonly cohens_d: number | null;
  /** The reason for a missing p-value. */
  readonly reason?: string;
}

/**
 * Compares two unpaired samples of one metric. A regression is a change for the worse that is
 * significant (Welch, p < 0.05) and large enough to matter (more than 5 %). If neither sample
 * varies, the difference alone decides.
 */
export function compareSamples(input: {
  readonly baseline: readonly number[];
  readonly current: readonly number[];
  readonly higherIsBetter?: boolean;
}): SampleRegression {
  const { baseline, current, higherIsBetter = true } = input;
  const before = mean(baseline);
  const after = mean(current);
  const difference = before === null || after === null ? null : after - before;
  const percent =
    difference === null || before === null || before === 0
      ? null
      : (difference / Math.abs(before)) * 100;
  const { p, reason } = welchT(baseline, current);
  // Relative to a baseline of zero, any change is infinite.
  let size: number;
  if (percent === null)
    size = difference === 0 || difference === null ? 0 : Number.POSITIVE_INFINITY;
  else size = Math.abs(percent);
  const isWorse = difference !== null && (higherIsBetter ? difference < 0 : difference > 0);
  const isTold = baseline.length > 1 && current.length > 1;
  const isRegression = isTold
    ? isWorse && (p === null || p < ALPHA) && size > SMALLEST_PERCENT
    : null;
  let severity: 'none' | 'minor' | 'major' | 'critical' | null;
  if (isRegression === null) severity = null;
  else if (isRegression) severity = severityOf(size);
  else severity = 'none';
  return {
    is_regression: isRegression,
    severity,
    baseline_mean: before,
    new_mean: after,
    difference,
    percent_change: percent,
    p_value: p,
    cohens_d: cohensD(baseline, current),
    reason,
  };
}

function severityOf(size: number): 'minor' | 'major' | 'critical' {
  if (size > CRITICAL_PERCENT) return 'critical';
  return size > MAJOR_PERCENT ? 'major' : 'minor';
}
