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
])('$what is found near where it happened', ({ shift, direction }) => {
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
  { what: 'too few values', values: Array.from({ length: CUSUM_MIN - 1 }, () => 1), found: undefined },
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
