import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { choose, fairCdf, fairPmf } from './binomial.ts';
import { lnGamma, upperGamma } from './gamma.ts';
import { betaQuantile, incompleteBeta } from './incomplete-beta.ts';
import {
  bootstrapInterval,
  clopperPearsonInterval,
  clusteredStandardError,
  cohensD,
  holm,
  krippendorffAlpha,
  mannWhitney,
  mcnemar,
  meanInterval,
  pairedDifference,
  pairedRateInterval,
  passAtK,
  passHatK,
  signFlipTest,
  standardError,
  welchT,
  wilsonInterval,
} from './index.ts';
import { normalCdf, normalQuantile, normalTail } from './normal.ts';
import { studentQuantile, studentTwoSided } from './student-t.ts';

const number = fc.double({ min: -1000, max: 1000, noNaN: true });
const sample = fc.array(number, { minLength: 2, maxLength: 30 });
const parameter = fc.double({ min: 0.1, max: 200, noNaN: true });
const share = fc.double({ min: 0.001, max: 0.999, noNaN: true });

describe('distributions', () => {
  test('the gamma function grows by its own argument', () => {
    fc.assert(
      fc.property(parameter, (x) => {
        expect(lnGamma(x + 1) - lnGamma(x)).toBeCloseTo(Math.log(x), 9);
      }),
    );
  });

  test('gamma of a half is the root of pi, and factorials are exact', () => {
    expect(Math.exp(lnGamma(0.5))).toBeCloseTo(Math.sqrt(Math.PI), 12);
    expect(Math.exp(lnGamma(11))).toBeCloseTo(3628800, 5);
  });

  test('Q(1, x) is the exponential, also far out', () => {
    for (const x of [0.1, 1, 5, 50, 300])
      expect(upperGamma(1, x) / Math.exp(-x)).toBeCloseTo(1, 10);
  });

  test('the incomplete beta function mirrors, and its quantile is its inverse', () => {
    fc.assert(
      fc.property(share, parameter, parameter, (x, a, b) => {
        expect(incompleteBeta(x, a, b) + incompleteBeta(1 - x, b, a)).toBeCloseTo(1, 10);
      }),
    );
    fc.assert(
      fc.property(
        share,
        fc.double({ min: 0.5, max: 60, noNaN: true }),
        fc.double({ min: 0.5, max: 60, noNaN: true }),
        (p, a, b) => {
          expect(incompleteBeta(betaQuantile(p, a, b), a, b)).toBeCloseTo(p, 9);
        },
      ),
    );
  });

  test('I_x(a, 1) is x to the a', () => {
    fc.assert(
      fc.property(share, parameter, (x, a) => {
        expect(incompleteBeta(x, a, 1)).toBeCloseTo(x ** a, 10);
      }),
    );
  });

  test('normal: known points, mirror image, inverse, and a tail that does not vanish', () => {
    expect(normalQuantile(0.975)).toBeCloseTo(1.959963984540054, 12);
    expect(normalCdf(1)).toBeCloseTo(0.8413447460685429, 12);
    expect(normalTail(10) / 7.61985302416052e-24).toBeCloseTo(1, 9);
    fc.assert(
      fc.property(share, (p) => {
        expect(normalCdf(normalQuantile(p))).toBeCloseTo(p, 11);
      }),
    );
    fc.assert(
      fc.property(fc.double({ min: -8, max: 8, noNaN: true }), (z) => {
        expect(normalCdf(z) + normalCdf(-z)).toBeCloseTo(1, 12);
      }),
    );
  });

  test('Student: one degree of freedom is Cauchy, many are nearly normal, and the quantile is the inverse', () => {
    for (const t of [0.1, 1, 7, 500])
      expect(studentTwoSided(t, 1)).toBeCloseTo(1 - (2 / Math.PI) * Math.atan(t), 11);
    expect(studentQuantile(0.95, 1e6)).toBeCloseTo(1.95996636, 6);
    fc.assert(
      fc.property(share, fc.double({ min: 0.5, max: 500, noNaN: true }), (level, df) => {
        expect(studentTwoSided(studentQuantile(level, df), df)).toBeCloseTo(1 - level, 9);
      }),
    );
  });

  test('a fair coin: all cases together are certain, and the sum agrees with the integral', () => {
    for (const n of [1, 7, 50, 51, 400]) {
      let sum = 0;
      for (let k = 0; k <= n; k++) {
        sum += fairPmf(k, n);
        if (k < n) expect(fairCdf(k, n)).toBeCloseTo(sum, 9);
      }
      expect(sum).toBeCloseTo(1, 9);
    }
    expect(choose(50, 25)).toBe(126410606437752);
  });
});

const counts = fc
  .integer({ min: 1, max: 60 })
  .chain((n) => fc.record({ n: fc.constant(n), c: fc.integer({ min: 0, max: n }) }));

describe('rates', () => {
  test('an interval contains its rate, stays within 0 and 1, mirrors, and the exact one is at least as wide at the ends', () => {
    fc.assert(
      fc.property(counts, ({ n, c }) => {
        const wilson = wilsonInterval(c, n)!;
        const mirror = wilsonInterval(n - c, n)!;
        expect(wilson.low).toBeGreaterThanOrEqual(0);
        expect(wilson.high).toBeLessThanOrEqual(1);
        expect(c / n).toBeGreaterThanOrEqual(wilson.low - 1e-12);
        expect(c / n).toBeLessThanOrEqual(wilson.high + 1e-12);
        expect(wilson.low).toBeCloseTo(1 - mirror.high, 12);
        const exact = clopperPearsonInterval(c, n)!;
        expect(exact.high - exact.low).toBeGreaterThanOrEqual(wilson.high - wilson.low - 0.02);
      }),
    );
  });

  test('pass^k ≤ rate ≤ pass@k, equal for k = 1, and mirror images of each other', () => {
    fc.assert(
      fc.property(counts, fc.nat(), ({ n, c }, seed) => {
        const k = 1 + (seed % n);
        const at = passAtK({ n, c, k })!;
        const hat = passHatK({ n, c, k })!;
        expect(hat).toBeLessThanOrEqual(c / n + 1e-12);
        expect(at).toBeGreaterThanOrEqual(c / n - 1e-12);
        expect(at).toBeCloseTo(1 - passHatK({ n, c: n - c, k })!, 10);
        expect(passAtK({ n, c, k: 1 })).toBeCloseTo(c / n, 12);
      }),
    );
  });

  test('pass@k agrees with its binomials', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(), fc.nat(), (n, x, y) => {
        const c = x % (n + 1);
        const k = 1 + (y % n);
        expect(passAtK({ n, c, k })).toBeCloseTo(1 - choose(n - c, k) / choose(n, k), 10);
        expect(passHatK({ n, c, k })).toBeCloseTo(choose(c, k) / choose(n, k), 10);
      }),
    );
  });

  test('McNemar does not care which side is which, and mid-p is never above exact', () => {
    fc.assert(
      fc.property(fc.nat(120), fc.nat(120), (b, c) => {
        const found = mcnemar({ b, c });
        expect(found).toEqual(mcnemar({ b: c, c: b }));
        expect(found.midP).toBeLessThanOrEqual(found.exact + 1e-12);
      }),
    );
  });

  test('the interval of two paired rates mirrors and holds the difference', () => {
    fc.assert(
      fc.property(
        fc.nat(30),
        fc.nat(30),
        fc.nat(30),
        fc.nat(30),
        (bothPass, passToFail, failToPass, bothFail) => {
          const n = bothPass + passToFail + failToPass + bothFail;
          fc.pre(n > 0);
          const there = pairedRateInterval({ bothPass, passToFail, failToPass, bothFail })!;
          const back = pairedRateInterval({
            bothPass,
            passToFail: failToPass,
            failToPass: passToFail,
            bothFail,
          })!;
          expect(there.low).toBeCloseTo(-back.high, 10);
          const difference = (passToFail - failToPass) / n;
          expect(there.low).toBeLessThanOrEqual(difference + 1e-12);
          expect(there.high).toBeGreaterThanOrEqual(difference - 1e-12);
        },
      ),
    );
  });

  test('Newcombe, table II: 36, 12, 2, 0 of 50', () => {
    const interval = pairedRateInterval({
      bothPass: 36,
      passToFail: 12,
      failToPass: 2,
      bothFail: 0,
    })!;
    expect(interval.low).toBeCloseTo(0.0569, 4);
    expect(interval.high).toBeCloseTo(0.3404, 4);
  });
});

describe('means', () => {
  test('with equally many repeats the clustered error is the error of the item means', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(number, { minLength: 10, maxLength: 40 }),
        (runs, values) => {
          const items = Math.floor(values.length / runs);
          fc.pre(items >= 2);
          const used = values.slice(0, items * runs);
          const clusters = used.map((_, i) => Math.floor(i / runs));
          const means = Array.from(
            { length: items },
            (_, i) => used.slice(i * runs, (i + 1) * runs).reduce((s, v) => s + v, 0) / runs,
          );
          expect(clusteredStandardError(used, clusters)).toBeCloseTo(standardError(means)!, 8);
        },
      ),
    );
  });

  test('a paired difference turns round with its sides', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(number, number), { minLength: 2, maxLength: 30 }), (pairs) => {
        const a = pairs.map(([x]) => x);
        const b = pairs.map(([, y]) => y);
        const there = pairedDifference(a, b);
        const back = pairedDifference(b, a);
        expect(there.mean).toBeCloseTo(-back.mean!, 9);
        expect(there.low).toBeCloseTo(-back.high!, 7);
        if (there.p !== null && back.p !== null) expect(there.p).toBeCloseTo(back.p, 9);
      }),
    );
  });

  test('the two-sample tests turn round with their sides', () => {
    fc.assert(
      fc.property(sample, sample, (a, b) => {
        expect(mannWhitney(a, b).p).toEqual(mannWhitney(b, a).p);
        expect(mannWhitney(a, b).statistic! + mannWhitney(b, a).statistic!).toBeCloseTo(
          a.length * b.length,
          9,
        );
        const d = cohensD(a, b);
        if (d !== null) expect(d).toBeCloseTo(-cohensD(b, a)!, 9);
        const t = welchT(a, b);
        if (t.statistic !== null) expect(t.statistic).toBeCloseTo(-welchT(b, a).statistic!, 9);
      }),
    );
  });

  test('Holm never lowers a p-value, keeps their order, and leaves a single one alone', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 }),
        (p) => {
          const adjusted = holm(p);
          for (const [i, value] of p.entries()) {
            expect(adjusted[i]).toBeGreaterThanOrEqual(value);
            for (const [j, other] of p.entries())
              if (value < other) expect(adjusted[i]).toBeLessThanOrEqual(adjusted[j]!);
          }
          if (p.length === 1) expect(adjusted).toEqual(p);
        },
      ),
    );
  });

  test('exact ranks: three against three, all apart, is 2 of 20 orders', () => {
    expect(mannWhitney([1, 2, 3], [4, 5, 6])).toEqual({ statistic: 0, p: expect.closeTo(0.1, 12) });
  });

  test('sign flips: eight differences of one sign are 2 of 256 patterns', () => {
    expect(signFlipTest([1, 2, 3, 4, 5, 6, 7, 8], { seed: 1 })).toBeCloseTo(2 / 256, 12);
    expect(signFlipTest([0, 0, 0], { seed: 1 })).toBe(1);
  });

  test('drawn sign flips come near the counted ones', () => {
    const differences = Array.from({ length: 13 }, (_, i) => (i % 3 === 0 ? -1 : 1) * (1 + i / 10));
    let counted = 0;
    for (let pattern = 0; pattern < 2 ** 13; pattern++) {
      const sum = differences.reduce((s, d, i) => s + ((pattern >> i) & 1 ? d : -d), 0);
      if (Math.abs(sum) >= Math.abs(differences.reduce((s, d) => s + d, 0)) - 1e-9) counted++;
    }
    expect(signFlipTest(differences, { seed: 7 })).toBeCloseTo(counted / 2 ** 13, 1);
  });

  test('the same seed draws the same interval, and another seed another', () => {
    const values = [0.2, 0.9, 0.4, 0.7, 0.5, 0.1, 0.8];
    expect(bootstrapInterval(values, { seed: 3 })).toEqual(bootstrapInterval(values, { seed: 3 }));
    expect(bootstrapInterval(values, { seed: 3 })).not.toEqual(
      bootstrapInterval(values, { seed: 4 }),
    );
  });

  test.each(['percentile', 'bca'] as const)(
    'the %s bootstrap of a mean is near its t interval',
    (method) => {
      const values = Array.from({ length: 60 }, (_, i) => Math.sin(i * 12.9898) * 10);
      const drawn = bootstrapInterval(values, { seed: 5, samples: 4000, method })!;
      const student = meanInterval(values)!;
      expect(Math.abs(drawn.low - student.low)).toBeLessThan(0.4);
      expect(Math.abs(drawn.high - student.high)).toBeLessThan(0.4);
    },
  );

  test('clusters are drawn whole: repeats do not narrow the interval', () => {
    const items = [0.1, 0.9, 0.4, 0.6, 0.3, 0.8];
    const repeated = items.flatMap((value) => [value, value, value, value]);
    const clusters = items.flatMap((_, i) => [i, i, i, i]);
    const together = bootstrapInterval(repeated, { seed: 2, clusters })!;
    const single = bootstrapInterval(items, { seed: 2 })!;
    expect(together.low).toBeCloseTo(single.low, 12);
    expect(together.high).toBeCloseTo(single.high, 12);
  });

  test('alpha is 1 for raters who agree, and does not care about their order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 3, maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 20, maxLength: 20 }),
        (a, b) => {
          fc.pre(new Set(a).size > 1);
          const other = b.slice(0, a.length);
          for (const level of ['nominal', 'ordinal', 'interval'] as const) {
            expect(krippendorffAlpha([a, a], { level })).toBeCloseTo(1, 12);
            expect(krippendorffAlpha([a, other], { level })).toBeCloseTo(
              krippendorffAlpha([other, a], { level })!,
              12,
            );
          }
        },
      ),
    );
  });
});
