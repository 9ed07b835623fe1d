import { categoryOf, isActionable } from '@agentci/metrics';
import {
  type ConditionSummary,
  type MetricSummary,
  TRIAL_METRICS,
  type Trial,
  type TrialMetric,
} from '@agentci/results';
import { describe, mean, meanInterval, varies } from '@agentci/stats';

/**
 * The measured values of one metric, in trial order. Values that are not finite count as
 * unmeasured.
 */
export const valuesOf = (trials: readonly Trial[], metric: TrialMetric): number[] =>
  trials.flatMap((trial) => {
    const value = trial.error === undefined ? trial[metric] : undefined;
    return typeof value === 'number' && Number.isFinite(value) ? [value] : [];
  });

/**
 * Whether all values are equal up to rounding. Uses the values, because rounding errors keep the
 * variance above zero.
 */
export const isConstant = (values: readonly number[]): boolean => !varies(values);

/** Summary statistics of a sample. Undefined if empty. */
export function summarizeMetric(values: readonly number[]): MetricSummary | undefined {
  const found = describe(values);
  if (found === null) return undefined;
  const [first] = values;
  const zero_variance = values.length > 1 && isConstant(values);
  return {
    n: found.n,
    mean: zero_variance ? first! : found.mean,
    sd: zero_variance ? 0 : found.std,
    ci95: zero_variance ? { low: first!, high: first! } : meanInterval(values),
    median: found.median,
    min: found.min,
    max: found.max,
    zero_variance,
  };
}

/**
 * The summary of one condition: its metrics, the bands of its decision quality, and the number of
 * failed trials.
 */
export function summarizeCondition(condition: string, trials: readonly Trial[]): ConditionSummary {
  const usable = trials.filter((trial) => trial.error === undefined);
  const metrics: ConditionSummary['metrics'] = {};
  for (const metric of TRIAL_METRICS) {
    const summary = summarizeMetric(valuesOf(trials, metric));
    if (summary !== undefined) metrics[metric] = summary;
  }
  const scores = valuesOf(trials, 'dq');
  const count = scores.filter(isActionable).length;
  const counts = usable.flatMap((trial) =>
    trial.actions === undefined ? [] : [trial.actions.length],
  );
  return {
    condition,
    n: usable.length,
    failed: trials.length - usable.length,
    metrics,
    categories: scores.length === 0 ? null : categoriesOf(scores),
    actionable: scores.length === 0 ? null : { count, share: count / scores.length },
    mean_actions: mean(counts),
  };
}

function categoriesOf(scores: readonly number[]): NonNullable<ConditionSummary['categories']> {
  const shares = { excellent: 0, good: 0, mediocre: 0, poor: 0 };
  for (const score of scores) shares[categoryOf(score)] += 1;
  for (const category of Object.keys(shares) as (keyof typeof shares)[])
    shares[category] /= scores.length;
  return shares;
}
