import vectors from '@agentci/testing/vectors/stats.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import {
  benjaminiHochberg,
  clopperPearsonInterval,
  clusteredStandardError,
  cohenKappa,
  cohensD,
  describe as describeSample,
  holm,
  judgeCorrectedRate,
  krippendorffAlpha,
  mannWhitney,
  mcnemar,
  meanInterval,
  minimumDetectableEffect,
  pairedDifference,
  passAtK,
  passHatK,
  requiredSampleSize,
  standardError,
  welchT,
  wilsonInterval,
} from './index.ts';
import { studentQuantile } from './student-t.ts';

const DIGITS = 6;
const bits = (text: string) => [...text].map(Number);

describe('numbers from NumPy and SciPy', () => {
  test.each([
    { passed: 8, n: 10, low: 0.4901625, high: 0.9433178 },
    { passed: 10, n: 10, low: 0.7224672, high: 1 },
    { passed: 0, n: 20, low: 0, high: 0.1611252 },
  ])('Wilson $passed of $n', ({ passed, n, low, high }) => {
    const interval = wilsonInterval(passed, n)!;
    expect(interval.low).toBeCloseTo(low, DIGITS);
    expect(interval.high).toBeCloseTo(high, DIGITS);
  });

  test('Clopper and Pearson 8 of 10', () => {
    const interval = clopperPearsonInterval(8, 10)!;
    expect(interval.low).toBeCloseTo(0.4439045, DIGITS);
    expect(interval.high).toBeCloseTo(0.9747893, DIGITS);
  });

  test.each([
    { k: 2, at: 0.9333333, hat: 0.4666667 },
    { k: 3, at: 0.9916667, hat: 0.2916667 },
    { k: 4, at: 1, hat: 0.1666667 },
    { k: 8, at: 1, hat: 0 },
  ])('pass@$k and pass^$k of 7 in 10', ({ k, at, hat }) => {
    expect(passAtK({ n: 10, c: 7, k })).toBeCloseTo(at, DIGITS);
    expect(passHatK({ n: 10, c: 7, k })).toBeCloseTo(hat, DIGITS);
  });

  test.each([
    { b: 2, c: 9, exact: 0.0654297, midP: 0.0385742 },
    { b: 0, c: 6, exact: 0.03125, midP: 0.015625 },
    { b: 5, c: 5, exact: 1, midP: 0.8769531 },
    { b: 0, c: 0, exact: 1, midP: 1 },
  ])('McNemar $b and $c', ({ b, c, exact, midP }) => {
    const found = mcnemar({ b, c });
    expect(found.exact).toBeCloseTo(exact, DIGITS);
    expect(found.midP).toBeCloseTo(midP, DIGITS);
  });

  test('a paired difference, and what the pairing saved', () => {
    const a = bits('110110110111');
    const b = bits('100100110101');
    const found = pairedDifference(a, b);
    expect(found.mean).toBeCloseTo(0.25, DIGITS);
    expect(found.se).toBeCloseTo(0.1305582, DIGITS);
    expect(found.t).toBeCloseTo(1.914854, DIGITS);
    expect(found.df).toBe(11);
    expect(found.p).toBeCloseTo(0.0818642, DIGITS);
    expect(Math.hypot(standardError(a)!, standardError(b)!)).toBeCloseTo(0.199431, DIGITS);
  });

  test('how many items a difference needs', () => {
    expect(requiredSampleSize({ effect: 0.03, variance: 1 / 9 })).toBe(969);
    expect(requiredSampleSize({ passToFail: 0.1, failToPass: 0.03 })).toBe(206);
    const noisy = { n: 50, variance: 0.1, noiseA: 0.1, noiseB: 0.1 };
    expect(minimumDetectableEffect(noisy)).toBeCloseTo(0.217, 4);
    expect(minimumDetectableEffect({ ...noisy, runsA: 5, runsB: 5 })).toBeCloseTo(0.1482, 4);
  });

  test.each([
    { df: 1, t: 12.706204736 },
    { df: 4, t: 2.776445105 },
    { df: 9, t: 2.262157163 },
  ])('the t of 95 % with $df degrees of freedom', ({ df, t }) => {
    expect(studentQuantile(0.95, df)).toBeCloseTo(t, DIGITS);
  });

  test('agreement of two raters', () => {
    const a = bits('1101001101');
    const b = bits('1001011101');
    expect(cohenKappa(a, b)).toBeCloseTo(0.5833333, DIGITS);
    expect(krippendorffAlpha([a, b], { level: 'nominal' })).toBeCloseTo(0.6041667, DIGITS);
    // Any two values are equally far apart, so the levels agree.
    expect(krippendorffAlpha([a, b], { level: 'interval' })).toBeCloseTo(0.6041667, DIGITS);
    expect(krippendorffAlpha([a, b], { level: 'ordinal' })).toBeCloseTo(0.6041667, DIGITS);
  });

  test('corrections for several tests', () => {
    const p = [0.001, 0.012, 0.03, 0.04, 0.2];
    expect(holm(p)).toEqual(
      [0.005, 0.048, 0.09, 0.09, 0.2].map((value) => expect.closeTo(value, 12)),
    );
    expect(benjaminiHochberg(p)).toEqual(
      [0.005, 0.03, 0.05, 0.05, 0.2].map((value) => expect.closeTo(value, 12)),
    );
  });

  test('a pass rate corrected for its judge', () => {
    expect(
      judgeCorrectedRate({ rate: 0.8, truePositiveRate: 0.9, trueNegativeRate: 0.85 }),
    ).toBeCloseTo(0.8666667, DIGITS);
    expect(
      judgeCorrectedRate({ rate: 0.8, truePositiveRate: 0.5, trueNegativeRate: 0.5 }),
    ).toBeNull();
  });
});

type Row = { input: Record<string, unknown>; expected: Record<string, unknown> };
const lists = (input: Row['input']) => [input.a as number[], input.b as number[]] as const;

/** Our results, under the names that the vectors use. */
const MEASURE: Record<string, (input: Row['input']) => object | null> = {
  'stats.aggregate': ({ values }) => describeSample(values as number[]),
  'stats.ci95': ({ values }) => meanInterval(values as number[]),
  'stats.independent_t_approx': (input) => ({
    ...welchT(...lists(input)),
    cohens_d: cohensD(...lists(input)),
  }),
  'stats.welch_t': (input) => ({ ...welchT(...lists(input)), cohens_d: cohensD(...lists(input)) }),
  'stats.mann_whitney': (input) => mannWhitney(...lists(input)),
  'stats.mcnemar': ({ a_only, b_only }) => mcnemar({ b: a_only as number, c: b_only as number }),
  'stats.paired_t': (input) => pairedDifference(...lists(input)),
};

test.each(vectors as (Row & { id: string; kind: string })[])(
  '$id ($kind)',
  ({ kind, input, expected }) => {
    const close = Object.fromEntries(
      Object.entries(expected).map(([key, value]) => [key, expect.closeTo(value as number, 9)]),
    );
    expect(MEASURE[kind]!(input)).toMatchObject(close);
  },
);

describe('undefined results are null', () => {
  test.each([
    { what: 'a rate of no runs', value: wilsonInterval(0, 0) },
    { what: 'the error of one value', value: standardError([1]) },
    { what: 'the error of one cluster', value: clusteredStandardError([1, 2, 3], ['q', 'q', 'q']) },
    { what: 'the interval of one value', value: meanInterval([1]) },
    { what: 'pass@k beyond the runs made', value: passAtK({ n: 2, c: 1, k: 3 }) },
    { what: 'pass^k beyond the runs made', value: passHatK({ n: 2, c: 1, k: 3 }) },
    { what: 't of two samples that do not vary', value: welchT([1, 1], [2, 2]).statistic },
    { what: 'd of two samples that do not vary', value: cohensD([1, 1], [2, 2]) },
    { what: 'U of an empty sample', value: mannWhitney([], [1]).statistic },
    { what: 'p of a sample that is one value', value: mannWhitney([1, 1], [1, 1]).p },
    {
      what: 'kappa of raters who only ever said one thing',
      value: cohenKappa(['a', 'a'], ['a', 'a']),
    },
    {
      what: 'alpha of items rated once',
      value: krippendorffAlpha(
        [
          [1, null],
          [null, 2],
        ],
        { level: 'nominal' },
      ),
    },
    { what: 't of one pair', value: pairedDifference([1], [2]).t },
    { what: 't of differences that are all the same', value: pairedDifference([1, 2], [2, 3]).t },
    {
      what: 'items needed to see no difference',
      value: requiredSampleSize({ effect: 0, variance: 1 }),
    },
    { what: 'a description of nothing', value: describeSample([]) },
  ])('$what', ({ value }) => {
    expect(value).toBeNull();
  });

  test('a count that cannot be is refused', () => {
    expect(() => wilsonInterval(3, 2)).toThrow(RangeError);
    expect(() => wilsonInterval(1.5, 2)).toThrow(RangeError);
    expect(() => passAtK({ n: 2, c: 3, k: 1 })).toThrow(RangeError);
    expect(() => pairedDifference([1], [1, 2])).toThrow(RangeError);
  });
});
