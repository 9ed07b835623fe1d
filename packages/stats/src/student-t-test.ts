import { mean } from './descriptive.ts';
import { studentTwoSided } from './student-t.ts';
import { spreadOf, type WelchT, whyNoTest } from './welch-t.ts';

/**
 * Test of two means assuming equal spread, as older papers print it. `welchT` needs no such
 * assumption. All null if neither side varies.
 */
export function studentT(a: readonly number[], b: readonly number[]): WelchT {
  const why = whyNoTest(a, b);
  if (why !== undefined) return { statistic: null, df: null, p: null, reason: why };
  const df = a.length + b.length - 2;
  const pooled = ((a.length - 1) * spreadOf(a) + (b.length - 1) * spreadOf(b)) / df;
  const statistic = (mean(a)! - mean(b)!) / Math.sqrt(pooled * (1 / a.length + 1 / b.length));
  return { statistic, df, p: studentTwoSided(statistic, df) };
}
