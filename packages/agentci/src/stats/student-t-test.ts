import { mean, variance } from './descriptive.ts';
import { studentTwoSided } from './student-t.ts';
import type { WelchT } from './welch-t.ts';

/** Test of two means that assumes equal spread, as older papers print it; `welchT` needs no such assumption. All null where neither side varies. */
export function studentT(a: readonly number[], b: readonly number[]): WelchT {
  const varianceA = variance(a);
  const varianceB = variance(b);
  if (varianceA === null || varianceB === null) return UNDEFINED;
  const df = a.length + b.length - 2;
  const pooled = ((a.length - 1) * varianceA + (b.length - 1) * varianceB) / df;
  if (!(pooled > 0)) return UNDEFINED;
  const statistic = (mean(a)! - mean(b)!) / Math.sqrt(pooled * (1 / a.length + 1 / b.length));
  return { statistic, df, p: studentTwoSided(statistic, df) };
}

const UNDEFINED: WelchT = { statistic: null, df: null, p: null };
