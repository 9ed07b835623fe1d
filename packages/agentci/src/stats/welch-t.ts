import { mean, variance } from './descriptive.ts';
import { studentTwoSided } from './student-t.ts';

export interface WelchT {
  readonly statistic: number | null;
  readonly df: number | null;
  readonly p: number | null;
}

/** Test of two means without assuming equal spread. All null where a side has fewer than two values or neither side varies. */
export function welchT(a: readonly number[], b: readonly number[]): WelchT {
  const varianceA = variance(a);
  const varianceB = variance(b);
  if (varianceA === null || varianceB === null) return UNDEFINED;
  const partA = varianceA / a.length;
  const partB = varianceB / b.length;
  const square = partA + partB;
  if (!(square > 0)) return UNDEFINED;
  const statistic = (mean(a)! - mean(b)!) / Math.sqrt(square);
  const df = square ** 2 / (partA ** 2 / (a.length - 1) + partB ** 2 / (b.length - 1));
  return { statistic, df, p: studentTwoSided(statistic, df) };
}

const UNDEFINED: WelchT = { statistic: null, df: null, p: null };
