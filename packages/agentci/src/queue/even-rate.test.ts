import { expect, test } from 'vitest';
import { evenRate } from './even-rate.ts';

test.each([
  { rate: { max: 10, perMs: 1000 }, even: { max: 1, perMs: 100 }, what: 'one at a time' },
  { rate: { max: 1, perMs: 60_000 }, even: { max: 1, perMs: 60_000 }, what: 'one at a time' },
  {
    rate: { max: 7, perMs: 1000 },
    even: { max: 1, perMs: 143 },
    what: 'one at a time, rather too late than too soon',
  },
  { rate: { max: 1000, perMs: 1000 }, even: { max: 50, perMs: 50 }, what: 'a few at a time' },
  {
    rate: { max: 30, perMs: 1000 },
    even: { max: 1, perMs: 50 },
    what: 'fewer, where they cannot be divided',
  },
])('$rate.max in $rate.perMs ms are $what', ({ rate, even }) => {
  expect(evenRate(rate)).toEqual(even);
  expect(even.max / even.perMs).toBeLessThanOrEqual(rate.max / rate.perMs);
});
