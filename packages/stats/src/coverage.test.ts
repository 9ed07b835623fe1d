import { describe, expect, test } from 'vitest';
import {
  bootstrapInterval,
  meanInterval,
  pairedDifference,
  pairedRateInterval,
  passHatK,
  seededRandom,
  wilsonInterval,
} from './index.ts';
import { normalQuantile } from './normal.ts';

// Checks "95 %" by simulation: the intervals of many samples must contain the true value 93 to 97
// times in 100.

const TRIALS = 4000;
const normal = (random: () => number) =>
  normalQuantile(Math.min(1 - 1e-12, Math.max(1e-12, random())));
const passes = (random: () => number, n: number, p: number) =>
  Array.from({ length: n }, () => (random() < p ? 1 : 0)).reduce((s: number, x) => s + x, 0);

function coverage(
  holds: (random: () => number) => boolean,
  { trials = TRIALS, seed = 1 } = {},
): number {
  const random = seededRandom(seed);
  let held = 0;
  for (let i = 0; i < trials; i++) if (holds(random)) held++;
  return held / trials;
}

const between = (share: number) => {
  expect(share).toBeGreaterThanOrEqual(0.93);
  expect(share).toBeLessThanOrEqual(0.97);
};

describe('95 % intervals hold the truth', () => {
  test.each([
    { p: 0.9, n: 20 },
    { p: 0.95, n: 30 },
    { p: 0.8, n: 10 },
    { p: 0.5, n: 15 },
    { p: 0.7, n: 40 },
  ])('Wilson, $n runs at a rate of $p', ({ p, n }) => {
    between(
      coverage((random) => {
        const { low, high } = wilsonInterval(passes(random, n, p), n)!;
        return low <= p && p <= high;
      }),
    );
  });

  test('the mean of eight normal values', () => {
    between(
      coverage((random) => {
        const { low, high } = meanInterval(Array.from({ length: 8 }, () => 3 + normal(random)))!;
        return low <= 3 && 3 <= high;
      }),
    );
  });

  test('paired differences over repeats of queries, clustered by query', () => {
    between(
      coverage((random) => {
        const a: number[] = [];
        const b: number[] = [];
        const clusters: number[] = [];
        for (let query = 0; query < 15; query++) {
          const shift = 0.5 + normal(random);
          for (let run = 0; run < 3; run++) {
            a.push(shift + normal(random));
            b.push(normal(random));
            clusters.push(query);
          }
        }
        const { low, high } = pairedDifference(a, b, { clusters });
        return low! <= 0.5 && 0.5 <= high!;
      }),
    );
  });

  test('two paired pass rates', () => {
    between(
      coverage((random) => {
        const table = { bothPass: 0, passToFail: 0, failToPass: 0, bothFail: 0 };
        for (let i = 0; i < 40; i++) {
          const u = random();
          let kind: 'bothPass' | 'passToFail' | 'failToPass' | 'bothFail';
          if (u < 0.6) {
            kind = 'bothPass';
          } else if (u < 0.75) {
            kind = 'passToFail';
          } else if (u < 0.85) {
            kind = 'failToPass';
          } else {
            kind = 'bothFail';
          }
          table[kind]++;
        }
        const { low, high } = pairedRateInterval(table)!;
        return low <= 0.05 && 0.05 <= high;
      }),
    );
  });

  test('the bootstrap of a mean', () => {
    between(
      coverage(
        (random) => {
          const values = Array.from({ length: 60 }, () => normal(random));
          const { low, high } = bootstrapInterval(values, {
            seed: Math.floor(random() * 2 ** 31),
            samples: 500,
          })!;
          return low <= 0 && 0 <= high;
        },
        { trials: 1500 },
      ),
    );
  });

  test('repeats taken for independent queries would not: the reason for clusters', () => {
    const naive = coverage((random) => {
      const differences: number[] = [];
      for (let query = 0; query < 15; query++) {
        const shift = normal(random);
        for (let run = 0; run < 5; run++) differences.push(shift + 0.3 * normal(random));
      }
      const { low, high } = meanInterval(differences)!;
      return low <= 0 && 0 <= high;
    });
    expect(naive).toBeLessThan(0.75);
  });
});

test('pass^k is unbiased, unlike the plug-in estimate', () => {
  const random = seededRandom(11);
  let unbiased = 0;
  let plugIn = 0;
  for (let i = 0; i < 20_000; i++) {
    const c = passes(random, 8, 0.6);
    unbiased += passHatK({ n: 8, c, k: 3 })! / 20_000;
    plugIn += (c / 8) ** 3 / 20_000;
  }
  expect(unbiased).toBeCloseTo(0.216, 2);
  expect(plugIn).toBeGreaterThan(0.25);
});
