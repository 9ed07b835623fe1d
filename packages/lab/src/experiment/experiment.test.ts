import type { Trial } from '@agentci/results';
import type { Message, Step, Trace } from '@agentci/trace';
import { simpleTrace } from '@agentci/trace';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { measureAgreement, type Rating } from './agreement.ts';
import { compareConditions } from './compare-conditions.ts';
import { failedTrial, type Scoring, trialOf } from './score-trial.ts';
import { simulateTrials } from './simulate-trials.ts';
import { timeToUnderstanding } from './time-to-understanding.ts';
import { weightSensitivity } from './weight-sensitivity.ts';

const trial = (condition: string, n: number, parts: Partial<Trial>): Trial => ({
  condition,
  trial: n,
  validity: null,
  specificity: null,
  correctness: null,
  dq: null,
  t2u_s: null,
  ...parts,
});
const trials = (condition: string, metric: 'dq' | 't2u_s', values: readonly number[]): Trial[] =>
  values.map((value, i) => trial(condition, i + 1, { [metric]: value }));

describe('comparing conditions', () => {
  const report = compareConditions([
    ...trials('a', 't2u_s', [10, 12, 11, 13]),
    ...trials('b', 't2u_s', [20, 21, 19, 24]),
    ...trials('c', 't2u_s', [11, 12, 12, 13]),
  ]);
  const pair = (a: string, b: string) =>
    report.comparisons.find((found) => found.a === a && found.b === b)!;

  test('signs are those of b minus a, and less time is better', () => {
    expect(pair('a', 'b')).toMatchObject({ metric: 't2u_s', difference: 9.5, better: 'a' });
    expect(pair('a', 'b').welch.t).toBeGreaterThan(0);
    expect(pair('a', 'b').cohens_d).toBeGreaterThan(0);
    expect(pair('a', 'b').relative_improvement_pct).toBeCloseTo((9.5 / 11.5) * 100, 10);
    const { low, high } = pair('a', 'b').difference_ci95!;
    expect(low < 9.5 && 9.5 < high && low > 0).toBe(true);
  });

  test("Holm's correction covers the pairs of a metric and never lowers a p-value", () => {
    expect(report.comparisons).toHaveLength(3);
    for (const { welch, mann_whitney: ranks } of report.comparisons) {
      expect(welch.p_holm!).toBeGreaterThanOrEqual(welch.p!);
      expect(ranks.p_holm!).toBeGreaterThanOrEqual(ranks.p!);
    }
    const smallest = report.comparisons.reduce((a, b) => (a.welch.p! < b.welch.p! ? a : b));
    expect(smallest.welch.p_holm).toBeCloseTo(smallest.welch.p! * 3, 12);
  });

  test('a small difference needs more trials than a large one', () => {
    expect(pair('a', 'c').trials_needed!).toBeGreaterThan(pair('a', 'b').trials_needed!);
    expect(pair('a', 'b').trials_needed!).toBeGreaterThanOrEqual(2);
  });

  test.each([
    { when: 'neither side varies', a: [0.5, 0.5], b: [0.7, 0.7], t: null, note: 'a and b' },
    { when: 'one side is a single trial', a: [0.5], b: [0.7, 0.8], t: null, note: 'single trial' },
  ])('the p-value is null when $when', ({ a, b, t, note }) => {
    const [found] = compareConditions([
      ...trials('a', 'dq', a),
      ...trials('b', 'dq', b),
    ]).comparisons;
    expect(found).toMatchObject({
      welch: { t, p: null, p_holm: null },
      mann_whitney: { p: null, p_holm: null },
      note: expect.stringContaining(note),
    });
  });

  test('with one constant side the tests that are defined are given, and the side is named', () => {
    const sides = [...trials('a', 'dq', [0.5, 0.5, 0.5]), ...trials('b', 'dq', [0.7, 0.8, 0.75])];
    const [found] = compareConditions(sides).comparisons;
    expect(found).toMatchObject({
      welch: { t: expect.closeTo(8.660254, 6), df: 2, p: expect.closeTo(0.0130725, 6) },
      mann_whitney: { p: expect.any(Number) },
      note: 'a does not vary (every trial has the same value)',
    });
  });

  test('a failed trial is counted, named, and in no mean', () => {
    const found = compareConditions([
      ...trials('a', 'dq', [0.5, 0.6]),
      failedTrial({ condition: 'a', trial: 3 }, 'timed out'),
      trial('a', 4, { dq: Number.NaN }),
    ]);
    expect(found.conditions[0]).toMatchObject({
      n: 3,
      failed: 1,
      metrics: { dq: { n: 2, mean: 0.55 } },
    });
    expect(found.notices[0]).toContain('timed out');
  });

  test('nothing at all gives an empty report', () => {
    expect(compareConditions([])).toEqual({
      conditions: [],
      comparisons: [],
      anova: [],
      notices: [],
    });
  });
});

describe('other weights', () => {
  const parts = (condition: string, validity: number, specificity: number, correctness: number) =>
    trial(condition, 1, { validity, specificity, correctness });

  test('a condition that is better in one part alone wins only near that corner', () => {
    const found = weightSensitivity([parts('sure', 1, 0.2, 0.2), parts('sharp', 0.6, 0.8, 0.8)], {
      step: 0.1,
    })!;
    expect(found.points).toHaveLength(66);
    expect(found.reference.ranking).toEqual([['sharp'], ['sure']]);
    const best = (validity: number) =>
      found.points.find(({ weights }) => weights.validity === validity)!.ranking[0];
    expect(best(1)).toEqual(['sure']);
    expect(best(0)).toEqual(['sharp']);
    for (const { weights, order } of found.points) {
      if (weights.validity < 0.6) expect(order).toBe('same');
      if (weights.validity > 0.6) expect(order).toBe('different');
    }
    // At validity 0.6 both have 0.68, a tie.
    expect(
      found.points
        .filter(({ weights }) => weights.validity === 0.6)
        .every(({ order }) => order === 'tied'),
    ).toBe(true);
  });

  test('shares add up to 1, and better in every part is best everywhere', () => {
    const share = fc.double({ min: 0, max: 0.8, noNaN: true });
    fc.assert(
      fc.property(share, share, share, (v, s, c) => {
        const found = weightSensitivity(
          [parts('low', v, s, c), parts('high', v + 0.1, s + 0.1, c + 0.1)],
          {
            step: 0.25,
          },
        )!;
        const { same, tied, different } = found.rank_stability;
        return Math.abs(same + tied + different - 1) < 1e-12 && same === 1 && found.wins.high === 1;
      }),
    );
  });

  test('one condition, or none with all parts, has no order', () => {
    expect(weightSensitivity([parts('a', 1, 1, 1)])).toBeNull();
    expect(weightSensitivity(trials('a', 'dq', [1]))).toBeNull();
    expect(() => weightSensitivity([], { step: 0.3 })).toThrow(RangeError);
  });
});

describe('time to understanding', () => {
  const llm = (t0: number, t1: number, text: string, seq: number): Step => ({
    kind: 'llm',
    id: `s${seq}`,
    seq,
    status: 'ok',
    t0,
    t1,
    output: { role: 'assistant', parts: [{ type: 'text', text }] },
  });
  const traceOf = (rest: Partial<Trace>): Trace => ({
    ...simpleTrace({ answer: 'Done.' }),
    ...rest,
  });

  test('ends with the first output that lists actions, not with the last step', () => {
    const steps = [
      llm(1000, 3000, 'let me look', 1),
      llm(3000, 9000, '- rollback', 2),
      llm(9000, 20_000, '- more', 3),
    ];
    expect(timeToUnderstanding(traceOf({ steps }))).toEqual({
      ok: true,
      seconds: 8,
      from: 'step',
      step: 2,
    });
  });

  test('the final answer is usable without a list', () => {
    const steps = [llm(0, 3000, 'hm', 1), llm(3000, 5000, 'Done.', 2)];
    expect(timeToUnderstanding(traceOf({ steps }))).toMatchObject({ seconds: 5, step: 2 });
  });

  test('a root span around everything changes nothing, and the clock of the runner wins over both', () => {
    const answer: Message = { role: 'assistant', parts: [{ type: 'text', text: '- restart it' }] };
    const both = { status: 'ok', output: answer } as const;
    const leaf: Step = { ...both, id: 'l', seq: 1, kind: 'llm', t0: 1000, t1: 8000 };
    const root: Step = { ...both, id: 'r', seq: 0, kind: 'agent', name: 'root', t0: 0, t1: 40_000 };
    const plain = timeToUnderstanding(traceOf({ steps: [leaf] }));
    expect(plain).toMatchObject({ ok: true, seconds: 7 });
    expect(timeToUnderstanding(traceOf({ steps: [root, leaf] }))).toMatchObject({
      ok: true,
      seconds: 7,
    });
    const live = (steps: Step[]) =>
      timeToUnderstanding({ ...traceOf({ steps }), reported: { wallMs: 600 } });
    for (const steps of [[], [leaf], [root, leaf]])
      expect(live(steps)).toEqual({ ok: true, seconds: 0.6, from: 'run' });
  });

  test('without times of steps it is the duration of the run, and without that it is not known', () => {
    expect(timeToUnderstanding(simpleTrace({ answer: 'x', latency_ms: 2500 }))).toEqual({
      ok: true,
      seconds: 2.5,
      from: 'run',
    });
    expect(timeToUnderstanding(simpleTrace({ answer: 'x' })).ok).toBe(false);
  });
});

describe('trials', () => {
  const scoring: Scoring = {
    groundTruth: 'rollback auth-service',
    profile: 'spec',
    weights: { validity: 0.4, specificity: 0.3, correctness: 0.3 },
    actions: 'list',
  };

  test('a recording becomes a scored trial', () => {
    const found = trialOf(
      simpleTrace({
        answer: '- Rollback auth-service',
        latency_ms: 4000,
        total_tokens: 9,
        cost_usd: 0.5,
      }),
      { condition: 'a', trial: 1 },
      scoring,
    );
    expect(found).toMatchObject({
      validity: 1,
      specificity: 0.67,
      correctness: 1,
      t2u_s: 4,
      total_tokens: 9,
      cost_usd: 0.5,
    });
  });

  test('a recording without an answer is a failed trial, not a score of 0', () => {
    expect(
      trialOf(simpleTrace({ answer: '' }), { condition: 'a', trial: 1 }, scoring),
    ).toMatchObject({
      dq: null,
      error: expect.any(String),
    });
  });

  test('a simulation repeats with its seed and is never negative', () => {
    const make = (seed: number) =>
      simulateTrials('a', { simulation: { t2u: { mean: 1, sd: 5 } }, trials: 200, seed, scoring });
    expect(make(1)).toEqual(make(1));
    expect(make(1)).not.toEqual(make(2));
    expect(make(1).every(({ t2u_s: time, dq }) => time! >= 0 && dq === null)).toBe(true);
  });
});

describe('agreement', () => {
  const ratings = (rows: Readonly<Record<string, string>>): Rating[] =>
    Object.entries(rows).flatMap(([rater, marks]) =>
      [...marks].map((mark, i) => ({
        item: `i${i}`,
        rater,
        component: 'x',
        value: mark === '.' ? null : Number(mark),
      })),
    );

  // The two raters of the golden numbers, from NumPy and SciPy.
  test('α and κ of two raters', () => {
    const found = measureAgreement(ratings({ a: '1101001101', b: '1001011101' }), {
      levels: ['nominal', 'interval'],
      seed: 1,
    });
    const [component] = found.components;
    expect(component!.kappa).toEqual([
      { a: 'a', b: 'b', n: 10, kappa: expect.closeTo(0.5833333, 6) },
    ]);
    expect(component!.alpha[0]!.alpha).toBeCloseTo(0.6041667, 6);
    const { low, high } = component!.alpha[0]!.ci95!;
    expect(low < 0.6041667 && 0.6041667 < high).toBe(true);
  });

  // Krippendorff's example of three raters with gaps, and its published values.
  test.each([
    { level: 'nominal', published: 0.691 },
    { level: 'ordinal', published: 0.807 },
    { level: 'interval', published: 0.811 },
  ] as const)('$level α of three raters with gaps is $published', ({ level, published }) => {
    const rows = { a: '.....34121133.3', b: '1.213343.......', c: '..21344.21133.4' };
    const [component] = measureAgreement(ratings(rows), {
      levels: [level],
      seed: 1,
      samples: 200,
    }).components;
    expect(component).toMatchObject({ ratings: 27, missing: 18 });
    expect(component!.alpha[0]!.alpha).toBeCloseTo(published, 3);
  });

  test('words only have the nominal level, and α is undefined for unanimous raters', () => {
    const words = ['a', 'b'].flatMap((rater) =>
      ['x', 'y'].map((item) => ({ item, rater, component: 'c', value: 'same' })),
    );
    const [component] = measureAgreement(words, {
      levels: ['nominal', 'ordinal'],
      seed: 1,
    }).components;
    expect(component!.alpha).toEqual([{ level: 'nominal', alpha: null, ci95: null }]);
  });
});
