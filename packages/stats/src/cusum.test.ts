import { expect, test } from 'vitest';
import { CUSUM_FALSE_ALARM_EVERY, CUSUM_MIN, findShift } from './cusum.ts';
import { normalQuantile } from './normal.ts';
import { seededRandom } from './seeded-random.ts';

const noise = (seed: number): (() => number) => {
  const random = seededRandom(seed);
  return () => normalQuantile(Math.min(1 - 1e-12, Math.max(1e-12, random())));
};

test.each([
  { what: 'a rise by two deviations', shift: 2, direction: 'up' },
  { what: 'a fall by two deviations', shift: -2, direction: 'down' },
])('finds $what close to its position', ({ shift, direction }) => {
  for (let seed = 1; seed <= 20; seed++) {
    const next = noise(seed);
    const values = Array.from({ length: 60 }, (_, i) => 10 + next() + (i >= 40 ? shift : 0));
    const found = findShift(values);
    expect(found).toMatchObject({ direction });
    expect(Math.abs(found!.from - 40)).toBeLessThanOrEqual(6);
  }
});

test('without a change an alarm is about as rare as stated', () => {
  let alarms = 0;
  let values = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const next = noise(seed);
    const series = Array.from({ length: 200 }, () => 5 + 0.1 * next());
    const found = findShift(series);
    if (found) alarms++;
    values += found ? found.found : series.length;
  }
  const every = values / alarms;
  expect(every).toBeGreaterThan(0.7 * CUSUM_FALSE_ALARM_EVERY);
  expect(every).toBeLessThan(1.5 * CUSUM_FALSE_ALARM_EVERY);
});

test.each([
  {
    what: 'too few values',
    values: Array.from({ length: CUSUM_MIN - 1 }, () => 1),
    found: undefined,
  },
  { what: 'equal values', values: Array.from({ length: 30 }, () => 1), found: null },
  {
    what: 'a step of equal values',
    values: [...Array(20).fill(1), ...Array(5).fill(2)],
    found: { from: 20, direction: 'up' },
  },
])('$what', ({ values, found }) => {
  if (found === undefined || found === null) expect(findShift(values as number[])).toBe(found);
  else expect(findShift(values as number[])).toMatchObject(found);
});

/** A noisy level, plus the values that `valueAt` adds. */
const level = (seed: number, length: number, valueAt: (at: number) => number): number[] => {
  const next = noise(seed);
  return Array.from({ length }, (_, at) => valueAt(at) * (1 + 0.03 * next()));
};

test.each([
  { what: 'one outlier', isOff: (at: number) => at === 12 },
  { what: 'one outlier in the newest value', isOff: (at: number) => at === 23 },
  { what: 'two outliers in a row', isOff: (at: number) => at === 12 || at === 13 },
  { what: 'three outliers in a row', isOff: (at: number) => at >= 12 && at <= 14 },
  { what: 'two outliers apart', isOff: (at: number) => at === 8 || at === 15 },
])('$what: that is not a change', ({ isOff }) => {
  for (const factor of [10, 2, 0.1]) {
    const seeds = Array.from({ length: 100 }, (_, seed) => seed + 1);
    const alarms = seeds.filter((seed) =>
      findShift(level(seed, 24, (at) => (isOff(at) ? 0.08 * factor : 0.08))),
    );
    // The same without an outlier: 24 values in 100 series, and one false alarm in about 750
    // values.
    expect(alarms.length).toBeLessThanOrEqual(5);
  }
});

test.each([
  {
    what: 'a rise after an outlier',
    valueAt: (at: number) => {
      if (at === 8) return 8;
      if (at < 20) return 1;
      return 1.3;
    },
    from: 20,
  },
  {
    what: 'a rise before an outlier',
    valueAt: (at: number) => {
      if (at === 30) return 8;
      if (at < 20) return 1;
      return 1.3;
    },
    from: 20,
  },
  { what: 'a rise of the last three values', valueAt: (at: number) => (at < 37 ? 1 : 2), from: 37 },
  {
    what: 'a rise that ends after ten values',
    valueAt: (at: number) => (at >= 15 && at < 25 ? 2 : 1),
    from: 25,
  },
])('finds $what at its position', ({ valueAt, from }) => {
  const direction = valueAt(from) > valueAt(from - 1) ? 'up' : 'down';
  const isRight = (seed: number): boolean => {
    const found = findShift(level(seed, 40, valueAt));
    return found?.direction === direction && Math.abs(found.from - from) <= 1;
  };
  const seeds = Array.from({ length: 100 }, (_, seed) => seed + 1);
  expect(seeds.filter(isRight).length).toBeGreaterThanOrEqual(93);
});
