import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  cliffsDelta,
  hedgesG,
  mean,
  normalSample,
  oneWayAnova,
  seededRandom,
  standardDeviation,
  studentT,
  welchT,
} from './index.ts';

const A = [6, 8, 4, 5, 3, 4];
const B = [8, 12, 9, 11, 6, 8];
const C = [13, 9, 11, 8, 7, 12];

// Reference values from SciPy 1.17.
test('one-way analysis of variance', () => {
  const found = oneWayAnova([A, B, C]);
  expect(found.df).toEqual([2, 15]);
  expect(found.f).toBeCloseTo(9.264705882352942, 10);
  expect(found.p).toBeCloseTo(0.0023987773293929083, 12);
  expect(found.etaSquared).toBeCloseTo(0.5526315789473685, 12);
});

test("Student's t, Hedges' g and Cliff's delta", () => {
  const t = studentT(A, B);
  expect(t.statistic).toBeCloseTo(-3.464101615137755, 10);
  expect(t.df).toBe(10);
  expect(t.p).toBeCloseTo(0.0060808479270885365, 12);
  expect(hedgesG(A, B)).toBeCloseTo(-1.845491216106174, 10);
  expect(cliffsDelta(A, B)).toBeCloseTo(-0.8611111111111112, 12);
});

test('nothing is defined without variation', () => {
  const constant = Array.from({ length: 7 }, () => 0.692);
  expect(oneWayAnova([constant, [0.1, 0.1]])).toEqual({
    f: null,
    df: null,
    p: null,
    etaSquared: null,
  });
  expect(oneWayAnova([A])).toMatchObject({ f: null, p: null });
  expect(studentT([1, 1], [1, 1])).toMatchObject({ statistic: null, p: null });
  expect(hedgesG([1], [2])).toBeNull();
  expect(cliffsDelta([], [1])).toBeNull();
});

const sample = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 2, maxLength: 20 });

test('of two groups F is the square of t, and swapping them turns signs round', () => {
  fc.assert(
    fc.property(sample, sample, (a, b) => {
      const { f, p } = oneWayAnova([a, b]);
      const t = studentT(a, b);
      if (f !== null && t.statistic !== null) {
        expect(f).toBeCloseTo(t.statistic ** 2, 6);
        expect(p).toBeCloseTo(t.p!, 8);
      }
      expect(cliffsDelta(a, b)! + cliffsDelta(b, a)!).toBeCloseTo(0, 10);
      if (a.length === b.length && t.statistic !== null)
        expect(t.statistic).toBeCloseTo(welchT(a, b).statistic!, 8);
    }),
  );
});

test('a seeded normal generator is repeatable, with the requested mean and spread', () => {
  const draw = (seed: number) => {
    const next = normalSample(seededRandom(seed), { mean: 120, sd: 6.5 });
    return Array.from({ length: 20_000 }, next);
  };
  const values = draw(42);
  expect(draw(42).slice(0, 5)).toEqual(values.slice(0, 5));
  expect(draw(43)[0]).not.toBe(values[0]);
  expect(Math.abs(mean(values)! - 120)).toBeLessThan(0.2);
  expect(Math.abs(standardDeviation(values)! - 6.5)).toBeLessThan(0.2);
  expect(values.every(Number.isFinite)).toBe(true);
});
