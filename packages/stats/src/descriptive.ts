import { requireNumber, requireNumbers } from './sample.ts';

export function mean(values: readonly number[]): number | null {
  requireNumbers(values);
  if (values.length === 0) return null;
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/** Sample variance, divided by n − 1. Null below two values. */
export function variance(values: readonly number[]): number | null {
  const middle = mean(values);
  if (middle === null || values.length < 2) return null;
  let sum = 0;
  for (const value of values) sum += (value - middle) ** 2;
  return sum / (values.length - 1);
}

export function standardDeviation(values: readonly number[]): number | null {
  const square = variance(values);
  return square === null ? null : Math.sqrt(square);
}

/** The value below which the share q lies, interpolated between neighbours. Null for no values. */
export function quantile(values: readonly number[], q: number): number | null {
  requireNumbers(values);
  requireNumber(q, 'the share', { min: 0, max: 1 });
  if (values.length === 0) return null;
  return quantileOfSorted(
    [...values].sort((a, b) => a - b),
    q,
  );
}

/** `quantile` of sorted values. */
export function quantileOfSorted(sorted: ArrayLike<number>, q: number): number {
  const at = (sorted.length - 1) * Math.min(1, Math.max(0, q));
  const below = Math.floor(at);
  const low = sorted[below]!;
  const high = sorted[Math.min(sorted.length - 1, below + 1)]!;
  return low + (high - low) * (at - below);
}

export interface Description {
  readonly n: number;
  readonly mean: number;
  readonly median: number;
  /** Null for one value. */
  readonly std: number | null;
  readonly min: number;
  readonly max: number;
  readonly p25: number;
  readonly p75: number;
}

/** Summary statistics of a sample. Null for no values. */
export function describe(values: readonly number[]): Description | null {
  const middle = mean(values);
  if (middle === null) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return {
    n: values.length,
    mean: middle,
    median: quantileOfSorted(sorted, 0.5),
    std: standardDeviation(values),
    min: sorted[0]!,
    max: sorted.at(-1)!,
    p25: quantileOfSorted(sorted, 0.25),
    p75: quantileOfSorted(sorted, 0.75),
  };
}
