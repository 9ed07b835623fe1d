import { type Interval, type IntervalOptions, levelOf, requireCounts } from './interval.ts';
import { twoSidedZ } from './normal.ts';

/**
 * Interval of a rate. Wilson's, because with 3 to 10 runs the normal interval exceeds 0 and 1, and
 * collapses if every run passed. Null for no runs.
 */
export function wilsonInterval(
  successes: number,
  n: number,
  options?: IntervalOptions,
): Interval | null {
  requireCounts({ successes, n });
  if (successes > n) throw new RangeError(`${successes} successes of ${n}`);
  const level = levelOf(options);
  if (n === 0) return null;
  return wilsonAt(successes / n, n, level);
}

/** The same for a rate and an effective number of outcomes, which may be fractional. */
export function wilsonAt(p: number, n: number, level: number): Interval {
  const z = twoSidedZ(level);
  const scale = 1 + (z * z) / n;
  const centre = (p + (z * z) / (2 * n)) / scale;
  const half = (z / scale) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return {
    low: p === 0 ? 0 : Math.max(0, centre - half),
    high: p === 1 ? 1 : Math.min(1, centre + half),
  };
}
