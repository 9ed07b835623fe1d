import { compareSamples } from '@agentci/run/baseline';

import { describe, expect, test } from 'vitest';
import * as stats from '../src/stats.ts';

/** Equal except for rounding: 0.1 + 0.2 is not 0.3 in the last digit. */
const FLAT = [0.1 + 0.2, 0.3, 0.3, 0.3];
const LOW = [0.1, 0.1, 0.1, 0.1];

describe('samples that do not vary beyond rounding', () => {
  test.each([
    { what: 'welchT', found: () => stats.welchT(FLAT, LOW) },
    { what: 'studentT', found: () => stats.studentT(FLAT, LOW) },
  ])('$what is null with a reason', ({ found }) => {
    expect(found()).toEqual({
      statistic: null,
      df: null,
      p: null,
      reason: 'neither sample varies',
    });
  });

  test('effect sizes are null', () => {
    expect(stats.cohensD(FLAT, LOW)).toBeNull();
    expect(stats.hedgesG(FLAT, LOW)).toBeNull();
    expect(stats.oneWayAnova([FLAT, LOW])).toMatchObject({ f: null, p: null });
  });

  test('pairs with one and the same difference have no t, however large the numbers', () => {
    for (const shift of [0.1, 1000.1]) {
      const a = [1.3, 2.7, 5.9, 1234.5];
      const found = stats.pairedDifference(
        a.map((value) => value + shift),
        a,
      );
      expect(found).toMatchObject({
        se: 0,
        t: null,
        p: null,
        reason: 'every difference is the same',
      });
      expect(found.mean).toBeCloseTo(shift, 9);
    }
  });

  test('compareSamples explains a missing p-value', () => {
    expect(compareSamples({ baseline: FLAT, current: LOW })).toMatchObject({
      p_value: null,
      cohens_d: null,
      // Constant samples with different values need no test.
      is_regression: true,
      reason: 'neither sample varies',
    });
  });

  test('one constant side is enough for a test: SciPy says t = -8.6602540, df = 2, p = 0.0130725', () => {
    const { statistic, df, p, reason } = stats.welchT([0.5, 0.5, 0.5], [0.7, 0.8, 0.75]);
    expect([statistic, df, p]).toEqual([
      expect.closeTo(-8.660254, 6),
      2,
      expect.closeTo(0.0130725, 6),
    ]);
    expect(reason).toBeUndefined();
  });

  test('small differences of large numbers are differences', () => {
    const { p } = stats.welchT(
      [1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.3],
      [1e9 + 5.1, 1e9 + 5.2, 1e9 + 5.3],
    );
    expect(p).toBeLessThan(0.001);
  });
});

describe('arguments that cannot be are a RangeError', () => {
  const NAN = [1, Number.NaN, 3];
  const random = () => 0.5;
  const calls: Record<string, readonly (() => unknown)[]> = {
    benjaminiHochberg: [() => stats.benjaminiHochberg(NAN), () => stats.benjaminiHochberg([1.1])],
    bootstrapInterval: [
      () => stats.bootstrapInterval(NAN, { seed: 1 }),
      () => stats.bootstrapInterval([1, 2], { seed: Number.NaN }),
      () => stats.bootstrapInterval([1, 2], { seed: 1, level: 2 }),
      () => stats.bootstrapInterval([1, 2], { seed: 1, samples: 0 }),
    ],
    cliffsDelta: [() => stats.cliffsDelta(NAN, [1])],
    clopperPearsonInterval: [
      () => stats.clopperPearsonInterval(Number.NaN, 3),
      () => stats.clopperPearsonInterval(4, 3),
    ],
    clusteredStandardError: [() => stats.clusteredStandardError(NAN, [1, 1, 2])],
    cohenKappa: [() => stats.cohenKappa(NAN, [1, 2, 3]), () => stats.cohenKappa([1], [1, 2])],
    cohensD: [
      () => stats.cohensD(NAN, [1, 2]),
      () => stats.cohensD([1, 2], [1, Number.POSITIVE_INFINITY]),
    ],
    describe: [() => stats.describe(NAN)],
    hedgesG: [() => stats.hedgesG([1, 2], NAN)],
    holm: [() => stats.holm(NAN), () => stats.holm([-0.1])],
    judgeCorrectedRate: [
      () => stats.judgeCorrectedRate({ rate: 1.2, truePositiveRate: 0.9, trueNegativeRate: 0.9 }),
      () =>
        stats.judgeCorrectedRate({
          rate: 0.5,
          truePositiveRate: Number.NaN,
          trueNegativeRate: 0.9,
        }),
    ],
    krippendorffAlpha: [
      () => stats.krippendorffAlpha([NAN, [1, 2, 3]], { level: 'interval' }),
      () => stats.krippendorffAlpha([[1], [1]], { level: 'other' as 'nominal' }),
    ],
    mannWhitney: [() => stats.mannWhitney(NAN, [1])],
    mcnemar: [() => stats.mcnemar({ b: -1, c: 2 }), () => stats.mcnemar({ b: Number.NaN, c: 2 })],
    mean: [() => stats.mean(NAN)],
    meanInterval: [() => stats.meanInterval(NAN), () => stats.meanInterval([1, 2], { level: 1 })],
    minimumDetectableEffect: [
      () => stats.minimumDetectableEffect({ n: Number.NaN, variance: 1 }),
      () => stats.minimumDetectableEffect({ n: 3, variance: -1 }),
    ],
    normalSample: [
      () => stats.normalSample(random, { mean: Number.NaN, sd: 1 }),
      () => stats.normalSample(random, { mean: 0, sd: -1 }),
    ],
    oneWayAnova: [() => stats.oneWayAnova([NAN, [1, 2]])],
    pairedDifference: [
      () => stats.pairedDifference(NAN, [1, 2, 3]),
      () => stats.pairedDifference([1], [1, 2]),
    ],
    pairedRateInterval: [
      () => stats.pairedRateInterval({ bothPass: -1, passToFail: 0, failToPass: 0, bothFail: 0 }),
    ],
    passAtK: [() => stats.passAtK({ n: 3, c: 4, k: 1 }), () => stats.passAtK({ n: 3, c: 1, k: 0 })],
    passHatK: [() => stats.passHatK({ n: Number.NaN, c: 1, k: 1 })],
    quantile: [
      () => stats.quantile(NAN, 0.5),
      () => stats.quantile([1, 2], 1.5),
      () => stats.quantile([1], Number.NaN),
    ],
    requiredSampleSize: [
      () => stats.requiredSampleSize({ effect: Number.NaN, variance: 1 }),
      () => stats.requiredSampleSize({ effect: 1, variance: Number.NaN }),
      () => stats.requiredSampleSize({ effect: 1, variance: 1, runsA: 0 }),
      () => stats.requiredSampleSize({ passToFail: 0.9, failToPass: 0.9 }),
      () => stats.requiredSampleSize({ effect: 1, variance: 1, alpha: 0 }),
      () => stats.requiredSampleSize({ effect: 1, variance: 1, sides: 3 as 2 }),
    ],
    seededRandom: [() => stats.seededRandom(Number.NaN)],
    signFlipTest: [
      () => stats.signFlipTest(NAN, { seed: 1 }),
      () => stats.signFlipTest([1], { seed: 1, samples: 0 }),
    ],
    standardDeviation: [() => stats.standardDeviation(NAN)],
    standardError: [() => stats.standardError(NAN)],
    studentT: [() => stats.studentT(NAN, [1, 2])],
    suitePassHatK: [
      () => stats.suitePassHatK([{ n: 1, c: 2 }], { maxK: 2 }),
      () => stats.suitePassHatK([{ n: 2, c: 1 }], { maxK: Number.NaN }),
    ],
    variance: [() => stats.variance(NAN)],
    welchT: [() => stats.welchT(NAN, [1, 2])],
    wilsonInterval: [
      () => stats.wilsonInterval(Number.NaN, 3),
      () => stats.wilsonInterval(1, 3, { level: Number.NaN }),
    ],
  };

  test('every function of the door is here', () => {
    expect(Object.keys(calls).sort()).toEqual(Object.keys(stats).sort());
  });

  test.each(Object.entries(calls))('%s', (_, attempts) => {
    for (const attempt of attempts) expect(attempt).toThrowError(RangeError);
  });
});

test('mannWhitney counts out up to 400 pairs without ties: SciPy exact', () => {
  const a = Array.from({ length: 20 }, (_, i) => i);
  const b = a.map((value) => value + 4.5);
  // scipy.stats.mannwhitneyu(a, b, method='exact').pvalue
  const { statistic, p } = stats.mannWhitney(a, b);
  expect(statistic).toBe(120);
  expect(p).toBeCloseTo(0.030411256038764864, 12);
});
