import { mean } from './descriptive.ts';
import { spreadOf, whyNoTest } from './welch-t.ts';

/**
 * Difference of two means in pooled standard deviations, a − b. Null if a side has fewer than two
 * values or neither varies.
 */
export function cohensD(a: readonly number[], b: readonly number[]): number | null {
  if (whyNoTest(a, b) !== undefined) return null;
  const pooled =
    ((a.length - 1) * spreadOf(a) + (b.length - 1) * spreadOf(b)) / (a.length + b.length - 2);
  return (mean(a)! - mean(b)!) / Math.sqrt(pooled);
}
