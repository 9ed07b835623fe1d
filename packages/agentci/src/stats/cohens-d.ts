import { mean, variance } from './descriptive.ts';

/** Difference of two means in pooled standard deviations, a − b. Null where a side has fewer than two values or nothing varies. */
export function cohensD(a: readonly number[], b: readonly number[]): number | null {
  const varianceA = variance(a);
  const varianceB = variance(b);
  if (varianceA === null || varianceB === null) return null;
  const pooled = ((a.length - 1) * varianceA + (b.length - 1) * varianceB) / (a.length + b.length - 2);
  return pooled > 0 ? (mean(a)! - mean(b)!) / Math.sqrt(pooled) : null;
}
