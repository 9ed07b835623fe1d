import { mean, variance } from './descriptive.ts';
import { requireNumbers, varies } from './sample.ts';
import { studentTwoSided } from './student-t.ts';

export interface WelchT {
  readonly statistic: number | null;
  readonly df: number | null;
  readonly p: number | null;
  /** Why the result is missing. */
  readonly reason?: string;
}

/**
 * Test of two means without assuming equal spread. All null if a side has fewer than two values or
 * neither side varies.
 */
export function welchT(a: readonly number[], b: readonly number[]): WelchT {
  const why = whyNoTest(a, b);
  if (why !== undefined) return { statistic: null, df: null, p: null, reason: why };
  const partA = spreadOf(a) / a.length;
  const partB = spreadOf(b) / b.length;
  const square = partA + partB;
  const statistic = (mean(a)! - mean(b)!) / Math.sqrt(square);
  const df = square ** 2 / (partA ** 2 / (a.length - 1) + partB ** 2 / (b.length - 1));
  return { statistic, df, p: studentTwoSided(statistic, df) };
}

/** Why two samples cannot be compared: too few values, or no spread. */
export function whyNoTest(a: readonly number[], b: readonly number[]): string | undefined {
  requireNumbers(a, 'the values of the first sample');
  requireNumbers(b, 'the values of the second sample');
  if (a.length < 2 || b.length < 2) return 'a sample has fewer than two values';
  return varies(a) || varies(b) ? undefined : 'neither sample varies';
}

/** Variance of at least two values. Rounding errors of equal values count as 0. */
export const spreadOf = (values: readonly number[]): number =>
  varies(values) ? variance(values)! : 0;
