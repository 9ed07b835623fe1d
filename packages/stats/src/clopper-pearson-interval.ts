import { betaQuantile } from './incomplete-beta.ts';
import { type Interval, type IntervalOptions, levelOf, requireCounts } from './interval.ts';

/**
 * The exact interval of a rate. It never covers less than its level, so it is wider than Wilson's.
 * Null for no runs.
 */
export function clopperPearsonInterval(
  successes: number,
  n: number,
  options?: IntervalOptions,
): Interval | null {
  requireCounts({ successes, n });
  if (successes > n) throw new RangeError(`${successes} successes of ${n}`);
  const tail = (1 - levelOf(options)) / 2;
  if (n === 0) return null;
  return {
    low: successes === 0 ? 0 : betaQuantile(tail, successes, n - successes + 1),
    high: successes === n ? 1 : betaQuantile(1 - tail, successes + 1, n - successes),
  };
}
