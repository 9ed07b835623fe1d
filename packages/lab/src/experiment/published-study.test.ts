import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scoreDecisionQuality } from '@agentci/metrics';
import type { ConditionComparison, MetricSummary, Trial } from '@agentci/results';
import { cohensD, mannWhitney, oneWayAnova, studentT, welchT } from '@agentci/stats';
import { describeOutside } from '@agentci/testing/outside';
import data from '@agentci/testing/vectors/experiments.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import { compareConditions } from './compare-conditions.ts';
import { relativeImprovement } from './relative-improvement.ts';
import { summarizeMetric, valuesOf } from './summarize-condition.ts';
import { weightSensitivity } from './weight-sensitivity.ts';

const { vectors, aggregates } = data;
const vector = (id: string) =>
  vectors.find((row) => row.id === id)!.expected as unknown as Record<string, number>;

const trialOf = (condition: string, trial: number, parts: Partial<Trial>): Trial => ({
  condition,
  trial,
  validity: null,
  specificity: null,
  correctness: null,
  dq: null,
  t2u_s: null,
  ...parts,
});
const repeat = (condition: string, n: number, parts: Partial<Trial>): Trial[] =>
  Array.from({ length: n }, (_, i) => trialOf(condition, i, parts));

const close = (actual: number | null | undefined, expected: number, digits = 9) =>
  expect(actual! / (expected || 1)).toBeCloseTo(expected === 0 ? 0 : 1, digits);

test('relative improvement in percent of what it was before', () => {
  close(relativeImprovement(0.403, 0.692), vector('maf-agg-02').pct!);
  expect(relativeImprovement(0, 0.4)).toBeNull();
  expect(relativeImprovement(Number.NaN, 1)).toBeNull();
});

describe('the published decision quality, from its few distinct values', () => {
  const trials = [
    ...repeat('C2', 113, { dq: 0.4 }),
    trialOf('C2', 113, { dq: 0.538 }),
    trialOf('C2', 114, { dq: 0.609 }),
    ...repeat('C3', 116, { dq: 0.692 }),
  ];
  const report = compareConditions(trials);

  test('means, spread, improvement and actionable trials', () => {
    const expected = vector('maf-agg-01');
    const [c2, c3] = report.conditions;
    close(c2!.metrics.dq!.mean, expected.C2_mean!);
    close(c2!.metrics.dq!.sd, expected.C2_std_ddof1!);
    expect(c2).toMatchObject({ n: 115, actionable: { count: expected.C2_actionable } });
    expect(c3).toMatchObject({
      n: 116,
      metrics: {
        dq: { mean: 0.692, sd: 0, ci95: { low: 0.692, high: 0.692 }, zero_variance: true },
      },
      actionable: { count: expected.C3_actionable, share: 1 },
    });
    close(report.comparisons[0]!.relative_improvement_pct, expected.improvement_pct!);
  });

  test('a condition without spread is named, and tests that need one side only are computed', () => {
    const [pair] = report.comparisons;
    expect(pair).toMatchObject({
      welch: { p: expect.any(Number) },
      mann_whitney: { p: expect.any(Number) },
      cliffs_delta: 1,
      better: 'C3',
      note: expect.stringContaining('C3'),
    });
    close(pair!.cohens_d, -aggregates.C2_vs_C3_dq.cohens_d);
    expect(report.notices.some((notice) => notice.startsWith('C3:'))).toBe(true);
  });
});

describeOutside('the study as reconstructed', 'data/myantfarm', (folder) => {
  const read = (name: string) =>
    existsSync(folder) ? readFileSync(join(folder, name), 'utf8') : '';
  const times = (name: string): number[] =>
    read(name)
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => Number(line.split(',')[1]!.replaceAll('"', '').trim()));
  interface Raw {
    readonly trial_id: string;
    readonly condition: string;
    readonly t2u: number | null;
    readonly actions: readonly string[];
    readonly expected: Readonly<Record<string, number>>;
  }
  const raw = JSON.parse(read('trials_reconstructed.json') || '{"trials":[]}') as {
    metadata?: { ground_truth: string };
    trials: Raw[];
  };
  const all = raw.trials.map(({ trial_id: trial, condition, t2u, actions }): Trial => {
    const score = scoreDecisionQuality({
      actions,
      groundTruth: raw.metadata!.ground_truth,
      profile: 'upstream',
    });
    const { validity, specificity, correctness, dq } = score;
    return { condition, trial, validity, specificity, correctness, dq, t2u_s: t2u, actions };
  });
  const trials = all.filter(({ trial }) => trial !== 'C2_028');
  const of = (condition: string, metric: 'dq' | 't2u_s', from = trials) =>
    valuesOf(
      from.filter((trial) => trial.condition === condition),
      metric,
    );

  test('every trial scores as the published scorer scored it', () => {
    expect(raw.trials.length).toBe(348);
    for (const [i, { expected }] of raw.trials.entries()) {
      const { action_count: count, ...parts } = expected;
      expect(all[i]).toMatchObject(parts);
      expect(all[i]!.actions).toHaveLength(count!);
    }
  });

  test.each(['C1', 'C2', 'C3'] as const)('the aggregates of %s', (name) => {
    const expected = aggregates[name] as unknown as Record<string, number & number[]>;
    const found = compareConditions(trials).conditions.find(({ condition }) => condition === name)!;
    const { dq, t2u_s: time, specificity, correctness, validity } = found.metrics;
    const same = (summary: MetricSummary | undefined, prefix: string) => {
      close(summary!.mean, expected[`${prefix}_mean`]!);
      close(summary!.sd, expected[`${prefix}_std`]!);
      close(summary!.ci95!.low, expected[`${prefix}_ci95`]![0]!);
      close(summary!.ci95!.high, expected[`${prefix}_ci95`]![1]!);
      for (const field of ['median', 'min', 'max'] as const)
        close(summary![field], expected[`${prefix}_${field}`]!);
    };
    expect(found.n).toBe(expected.n);
    same(dq, 'dq');
    if (expected.t2u_n !== undefined) same(time, 't2u');
    else expect(time).toBeUndefined();
    close(specificity!.mean, expected.spec_mean!);
    close(specificity!.sd, expected.spec_std!);
    close(correctness!.mean, expected.corr_mean!);
    close(correctness!.sd, expected.corr_std!);
    close(validity!.mean, expected.valid_mean!);
    close(found.mean_actions, expected.actions_mean!);
    expect(found.actionable!.count).toBe(expected.actionable);
    close(found.categories!.poor * found.n, expected.poor_lt_0_3!);
  });

  test('the outlier, kept', () => {
    const kept = summarizeMetric(of('C2', 't2u_s', all))!;
    close(kept.mean, aggregates.C2_with_outlier.t2u_mean);
    close(kept.sd, aggregates.C2_with_outlier.t2u_std);
  });

  test('the timing files alone', () => {
    const c1 = times('c1_t2u_seed42.csv');
    const sequence = times('c2_timing_sequence.csv');
    const c2 = sequence.filter((_, i) => i !== 28);
    for (const [id, values] of [
      ['maf-agg-03', c2],
      ['maf-agg-04', sequence],
    ] as const) {
      const summary = summarizeMetric(values)!;
      const expected = vector(id);
      expect(summary.n).toBe(expected.n);
      close(summary.mean, expected.mean!);
      close(summary.sd, expected.std_ddof1!);
    }
    const expected = vector('maf-agg-06');
    close(studentT(c1, c2).statistic, expected.t_student!);
    close(studentT(c1, c2).p, expected.p_student!, 6);
    close(welchT(c1, c2).statistic, expected.t_welch!);
    close(welchT(c1, c2).df, expected.df_welch!);
    close(welchT(c1, c2).p, expected.p_welch!, 6);
    close(cohensD(c1, c2), expected.cohens_d!);
    expect(mannWhitney(c1, c2).statistic).toBe(expected.mannwhitney_U);
    close(mannWhitney(c1, c2).p, expected.mannwhitney_p!, 6);
  });

  test('the tests of the study', () => {
    const report = compareConditions(trials);
    const pair = (metric: string, a: string, b: string): ConditionComparison =>
      report.comparisons.find(
        (found) => found.metric === metric && found.a === a && found.b === b,
      )!;
    const anova = report.anova.find(({ metric }) => metric === 'dq')!;
    close(anova.f, aggregates.anova_dq.F, 6);
    expect(anova).toMatchObject({ df: aggregates.anova_dq.df, p: 0, zero_variance: ['C1', 'C3'] });
    close(
      oneWayAnova([of('C1', 'dq'), of('C2', 'dq'), of('C3', 'dq')]).f,
      aggregates.anova_dq.F,
      6,
    );
    for (const [a, b] of [
      ['C1', 'C2'],
      ['C2', 'C3'],
    ] as const) {
      const expected = aggregates[`${a}_vs_${b}_dq` as 'C1_vs_C2_dq'];
      const t = studentT(of(a, 'dq'), of(b, 'dq'));
      close(t.statistic, expected.t, 6);
      expect(t.df).toBe(expected.df);
      close(t.p, expected.p, 6);
      const ranks = mannWhitney(of(a, 'dq'), of(b, 'dq'));
      expect(ranks.statistic).toBe(expected.mannwhitney_U);
      close(ranks.p, expected.mannwhitney_p, 6);
      // The report counts from a to b, so its signs are reversed.
      close(pair('dq', a, b).cohens_d, -expected.cohens_d, 6);
    }
    // The published t and d of this pair are infinite, because neither side varies.
    expect(pair('dq', 'C1', 'C3')).toMatchObject({
      welch: { t: null, p: null },
      cohens_d: null,
      cliffs_delta: 1,
    });
    expect(
      mannWhitney(of('C1', 'dq'), of('C3', 'dq')).p! / aggregates.C1_vs_C3_dq.mannwhitney_p,
    ).toBeCloseTo(1, 6);
    const time = pair('t2u_s', 'C1', 'C2');
    close(time.welch.t, -aggregates.C1_vs_C2_t2u.t_welch);
    close(time.welch.p, aggregates.C1_vs_C2_t2u.p_welch, 6);
    close(time.mann_whitney.p, aggregates.C1_vs_C2_t2u.mannwhitney_p, 6);
    close(time.relative_improvement_pct, -aggregates.t2u_reduction_C2_vs_C1_pct);
    expect(time.better).toBe('C2');
    close(pair('dq', 'C2', 'C3').relative_improvement_pct, aggregates.improvement_dq_C3_vs_C2_pct);
  });

  test('the order of the conditions under other weights', () => {
    const found = weightSensitivity(trials)!;
    expect(found.reference.ranking).toEqual([['C3'], ['C2'], ['C1']]);
    // With validity alone, C2 and C3 tie. All other mixes separate them.
    expect(found.rank_stability.different).toBe(0);
    expect(
      found.points.filter(({ order }) => order === 'tied').map(({ weights }) => weights.validity),
    ).toEqual([1]);
    expect(found.wins.C3).toBeCloseTo(230 / 231, 10);
  });

  test('a constant list of actions is called what it is', () => {
    expect(
      compareConditions(trials).notices.filter((notice) => notice.includes('very same actions')),
    ).toHaveLength(1);
  });
});
