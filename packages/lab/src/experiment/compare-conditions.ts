import {
  type AnovaResult,
  type ConditionComparison,
  type ConditionsReport,
  TRIAL_METRICS,
  type Trial,
  type TrialMetric,
} from '@agentci/results';
import { holm, oneWayAnova } from '@agentci/stats';
import { comparePair, type Sample } from './compare-pair.ts';
import { groupTrials } from './group-trials.ts';
import { isConstant, summarizeCondition, valuesOf } from './summarize-condition.ts';

/**
 * Summarizes every condition and compares all pairs. Holm's correction covers all pairs of one
 * metric. A condition without spread is named and gets no p-value, because the tests need variance.
 */
export function compareConditions(trials: readonly Trial[]): ConditionsReport {
  const groups = groupTrials(trials);
  const comparisons: ConditionComparison[] = [];
  const anova: AnovaResult[] = [];
  for (const metric of TRIAL_METRICS) {
    const samples = [...groups]
      .map(([condition, group]): Sample => ({ condition, values: valuesOf(group, metric) }))
      .filter(({ values }) => values.length > 0);
    comparisons.push(...withHolm(pairs(samples).map(([a, b]) => comparePair(metric, a, b))));
    if (samples.length > 2) anova.push(anovaOf(metric, samples));
  }
  return {
    conditions: [...groups].map(([condition, group]) => summarizeCondition(condition, group)),
    comparisons,
    anova,
    notices: [...groups].flatMap(([condition, group]) => noticesOf(condition, group)),
  };
}

const pairs = (samples: readonly Sample[]): (readonly [Sample, Sample])[] =>
  samples.flatMap((a, i) => samples.slice(i + 1).map((b) => [a, b] as const));

function withHolm(found: readonly ConditionComparison[]): ConditionComparison[] {
  const welch = corrected(found.map((pair) => pair.welch.p));
  const ranks = corrected(found.map((pair) => pair.mann_whitney.p));
  return found.map((pair, i) => ({
    ...pair,
    welch: { ...pair.welch, p_holm: welch[i]! },
    mann_whitney: { ...pair.mann_whitney, p_holm: ranks[i]! },
  }));
}

/** Corrects the existing p-values. A pair without one was not tested. */
function corrected(pValues: readonly (number | null)[]): (number | null)[] {
  const adjusted = holm(pValues.filter((p) => p !== null));
  let next = 0;
  return pValues.map((p) => (p === null ? null : adjusted[next++]!));
}

function anovaOf(metric: TrialMetric, samples: readonly Sample[]): AnovaResult {
  const { f, df, p, etaSquared } = oneWayAnova(samples.map(({ values }) => values));
  return {
    metric,
    f,
    df: df === null ? null : [df[0], df[1]],
    p,
    eta_squared: etaSquared,
    zero_variance: samples.flatMap(({ condition, values }) =>
      values.length > 1 && isConstant(values) ? [condition] : [],
    ),
  };
}

function noticesOf(condition: string, trials: readonly Trial[]): string[] {
  const notices: string[] = [];
  const usable = trials.filter((trial) => trial.error === undefined);
  if (usable.length < trials.length) {
    const first = trials.find((trial) => trial.error !== undefined)!;
    notices.push(
      `${condition}: ${trials.length - usable.length} of ${trials.length} trials failed and are in no mean (${first.trial}: ${first.error})`,
    );
  }
  const scores = valuesOf(trials, 'dq');
  if (scores.length > 1 && isConstant(scores))
    notices.push(
      `${condition}: decision quality is ${scores[0]} in all ${scores.length} trials; it has no spread to test with`,
    );
  const lists = new Set(
    usable.flatMap(({ actions }) => (actions === undefined ? [] : [JSON.stringify(actions)])),
  );
  const scored = usable.filter(({ actions }) => actions !== undefined && actions.length > 0).length;
  if (scored > 1 && lists.size === 1)
    notices.push(
      `${condition}: all ${scored} trials propose the very same actions; one trial says as much`,
    );
  return notices;
}
