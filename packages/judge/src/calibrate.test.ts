import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agreement, calibrate, type LabelledScore } from './calibrate.ts';

const rowsOf = (pairs: readonly (readonly [human: number, score: number])[]): LabelledScore[] =>
  pairs.map(([human, score], i) => ({ id: `r${i}`, human: human === 1, score }));

describe('agreement', () => {
  test('of the two raters with golden numbers', () => {
    const judge = [...'1101001101'].map(Number);
    const human = [...'1001011101'].map(Number);
    const result = agreement(rowsOf(human.map((label, i) => [label, judge[i] === 1 ? 5 : 1])), 3);
    expect(result.kappa).toBeCloseTo(0.5833333, 6);
    expect(result).toMatchObject({
      n: 10,
      accuracy: 0.8,
      base_rate: 0.6,
      confusion: { true_pass: 5, false_pass: 1, true_fail: 3, false_fail: 1 },
    });
    expect(result.accuracy_interval!.low).toBeCloseTo(0.4901625, 6);
    expect(result.tpr).toBeCloseTo(5 / 6, 9);
    expect(result.tnr).toBeCloseTo(3 / 4, 9);
  });

  test('of nothing, or of one label only, is not measured', () => {
    expect(agreement([], 3)).toMatchObject({
      accuracy: null,
      kappa: null,
      base_rate: null,
      tpr: null,
      tnr: null,
    });
    expect(
      agreement(
        rowsOf([
          [1, 5],
          [1, 5],
        ]),
        3,
      ),
    ).toMatchObject({ accuracy: 1, kappa: null, tpr: 1, tnr: null });
  });

  test('counts every row exactly once', () => {
    const row = fc.tuple(fc.constantFrom(0, 1), fc.integer({ min: 1, max: 5 }));
    fc.assert(
      fc.property(fc.array(row), fc.integer({ min: 1, max: 5 }), (pairs, min) => {
        const { n, confusion } = agreement(rowsOf(pairs), min);
        expect(Object.values(confusion).reduce((a, b) => a + b, 0)).toBe(n);
      }),
    );
  });
});

describe('calibration', () => {
  // People pass answers that the judge scores 4 or 5, but the spec asks for 3.
  const strict = rowsOf(
    Array.from({ length: 60 }, (_, i) => [i % 5 >= 3 ? 1 : 0, (i % 5) + 1] as const),
  );

  test('finds the score that agrees with people, and measures it on labels it has not seen', () => {
    const result = calibrate(strict, { threshold: 0.6, seed: 0 });
    expect(result.min_score).toBe(3);
    expect(result.kappa).toBeLessThan(0.7);
    expect(result.best_threshold).toMatchObject({
      min_score: 4,
      measured_on: { kappa: 1, n: 30 },
      chosen_on: { n: 30 },
    });
  });

  test('every label is in exactly one half', () => {
    const row = fc.tuple(fc.constantFrom(0, 1), fc.integer({ min: 1, max: 5 }));
    fc.assert(
      fc.property(fc.array(row, { minLength: 2, maxLength: 40 }), fc.nat(99), (pairs, seed) => {
        const rows = rowsOf(pairs);
        const { min_score, chosen_on, measured_on } = calibrate(rows, { threshold: 0.6, seed })
          .best_threshold!;
        const whole = agreement(rows, min_score).confusion;
        for (const key of Object.keys(whole) as (keyof typeof whole)[])
          expect(chosen_on.confusion[key] + measured_on.confusion[key]).toBe(whole[key]);
      }),
      { numRuns: 30 },
    );
  });

  test('corrects the pass rate of a judge that is too kind', () => {
    const { pass_rate } = calibrate(strict, { threshold: 0.6, seed: 0 });
    expect(pass_rate.judged).toBeGreaterThan(pass_rate.human!);
    expect(Math.abs(pass_rate.corrected! - pass_rate.human!)).toBeLessThan(
      Math.abs(pass_rate.judged! - pass_rate.human!),
    );
  });

  test('gives the same halves for any order of rows', () => {
    const options = { threshold: 0.6, seed: 3 };
    expect(calibrate([...strict].reverse(), options)).toEqual(calibrate(strict, options));
  });

  test('a judge no better than chance gets no corrected rate', () => {
    const rows = rowsOf(
      Array.from({ length: 40 }, (_, i) => [i % 2, i % 2 === 1 ? 1 : 5] as const),
    );
    expect(calibrate(rows, { threshold: 0.6, seed: 0 }).pass_rate.corrected).toBeNull();
  });
});

describe('labels of several rubrics', () => {
  test('are each measured at their own passing score', () => {
    const rows: LabelledScore[] = [
      { id: 'a', human: false, score: 3, min_score: 4 },
      { id: 'b', human: true, score: 3, min_score: 3 },
      { id: 'c', human: true, score: 5, min_score: 4 },
      { id: 'd', human: false, score: 2, min_score: 3 },
    ];
    const result = calibrate(rows, { threshold: 0.5, seed: 0 });
    expect(result).toMatchObject({ kappa: 1, min_score: null, best_threshold: null });
  });

  test('an answer that the ensemble votes down fails at every score', () => {
    const rows = [{ id: 'a', human: false, score: 4, min_score: 3, vetoed: true }];
    expect(agreement(rows, null).confusion).toMatchObject({ true_fail: 1, false_pass: 0 });
    expect(agreement(rows, 2).confusion).toMatchObject({ true_fail: 1 });
  });
});
