import { mannWhitney } from './mann-whitney.ts';

/**
 * How much more often a value of `a` exceeds one of `b` than the reverse, −1 to 1. Null if a side
 * is empty.
 */
export function cliffsDelta(a: readonly number[], b: readonly number[]): number | null {
  const { statistic } = mannWhitney(a, b);
  return statistic === null ? null : (2 * statistic) / (a.length * b.length) - 1;
}
