import type { ConditionComparison, TrialMetric } from '@agentci/results';
import {
  cliffsDelta,
  cohensD,
  hedgesG,
  mannWhitney,
  mean,
  requiredSampleSize,
  studentQuantile,
  variance,
  welchT,
} from '@agentci/stats';
import { BETTER } from './metric-better.ts';
import { relativeImprovement } from './relative-improvement.ts';
import { isConstant } from './summarize-condition.ts';

/** The values of one metric in one condition. */
export interface Sample {
  readonly condition: string;
  readonly values: readonly number[];
}

/** Compares two conditions in one metric, before the correction for multiple tests. */
export function comparePair(metric: TrialMetric, a: Sample, b: Sample): ConditionComparison {
  const constant = [a, b].filter(({ values }) => isConstant(values));
  const difference = middle(b) - middle(a);
  const spread =
    constant.length === 2 ? undefined : differenceInterval(a.values, b.values, difference);
  const welch = welchT(b.values, a.values);
  // Two constants, or single trials, have no spread for a test.
  const isTested = welch.reason === undefined;
  const ranks = mannWhitney(b.values, a.values);
  const note = noteOf(constant, [a, b]);
  return {
    metric,
    a: a.condition,
    b: b.condition,
    difference,
    difference_ci95: spread ?? null,
    relative_improvement_pct: relativeImprovement(middle(a), middle(b)),
    better: betterOf(metric, difference, { a, b }),
    welch: { t: welch.statistic, df: welch.df, p: welch.p, p_holm: null },
    mann_whitney: { u: ranks.statistic, p: isTested ? ranks.p : null, p_holm: null },
    cohens_d: cohensD(b.values, a.values),
    hedges_g: hedgesG(b.values, a.values),
    cliffs_delta: cliffsDelta(b.values, a.values),
    trials_needed: trialsNeeded(a, b, difference),
    note,
  };
}

const middle = ({ values }: Sample): number => (isConstant(values) ? values[0]! : mean(values)!);
const spreadOf = ({ values }: Sample): number | null => (isConstant(values) ? 0 : variance(values));

function noteOf(constant: readonly Sample[], both: readonly Sample[]): string | undefined {
  const single = both.filter(({ values }) => values.length < 2);
  if (single.length > 0) return `no p-value: ${names(single)} has a single trial`;
  if (constant.length === 0) return undefined;
  const same = 'not vary (every trial has the same value)';
  if (constant.length === 1) return `${names(constant)} does ${same}`;
  return `no p-value: ${names(constant)} do ${same}`;
}

const names = (samples: readonly Sample[]): string =>
  samples.map(({ condition }) => condition).join(' and ');

function betterOf(
  metric: TrialMetric,
  difference: number,
  { a, b }: { a: Sample; b: Sample },
): string | null {
  if (difference === 0) return null;
  return difference > 0 === (BETTER[metric] === 'higher') ? b.condition : a.condition;
}

function differenceInterval(
  a: readonly number[],
  b: readonly number[],
  difference: number,
): { low: number; high: number } | undefined {
  const { statistic, df } = welchT(b, a);
  if (statistic === null || df === null || a.length < 2 || b.length < 2) return undefined;
  const error = Math.sqrt(variance(a)! / a.length + variance(b)! / b.length);
  const half = studentQuantile(0.95, df) * error;
  return { low: difference - half, high: difference + half };
}

function trialsNeeded(a: Sample, b: Sample, difference: number): number | null {
  const spreads = [spreadOf(a), spreadOf(b)];
  if (spreads.includes(null) || a.values.length < 2 || b.values.length < 2) return null;
  const total = spreads[0]! + spreads[1]!;
  if (!(total > 0)) return null;
  const needed = requiredSampleSize({ effect: difference, variance: total });
  // One trial per side has no spread, however large the difference.
  return needed === null ? null : Math.max(2, needed);
}
