import { incompleteBeta } from './incomplete-beta.ts';
import { normalQuantile } from './normal.ts';

/** Probability that |T| is at least |t|, with df degrees of freedom (may be fractional). */
export const studentTwoSided = (t: number, df: number): number =>
  incompleteBeta(df / (df + t * t), df / 2, 0.5);

/** The t for a two-sided interval: 2.776 for 0.95 with 4 degrees of freedom. */
export function studentQuantile(level: number, df: number): number {
  const wanted = 1 - level;
  // The normal quantile is a lower bound; doubling finds an upper one.
  let low = Math.max(0, -normalQuantile(wanted / 2)) * 0.5;
  let high = Math.max(1, low * 2);
  while (studentTwoSided(high, df) > wanted && high < 1e300) {
    low = high;
    high *= 2;
  }
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (studentTwoSided(middle, df) > wanted) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
