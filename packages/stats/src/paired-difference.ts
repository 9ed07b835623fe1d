import { clusteredStandardError } from './clustered-standard-error.ts';
import { mean } from './descriptive.ts';
import { type IntervalOptions, levelOf, requireSameLength } from './interval.ts';
import { requireNumbers, sizeOf, varies } from './sample.ts';
import { standardError } from './standard-error.ts';
import { studentQuantile, studentTwoSided } from './student-t.ts';

export interface PairedDifference {
  /** Mean of a − b. Null for no pairs. */
  readonly mean: number | null;
  readonly se: number | null;
  /** Also null if all differences are equal, because then there is no spread. */
  readonly t: number | null;
  readonly df: number | null;
  readonly p: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** Correlation of the two sides, which is the gain from pairing. */
  readonly r: number | null;
  /** Why t and p are missing. */
  readonly reason?: string;
}

/**
 * Difference of two measurements of the same items, a − b, with Student's t. Only the mean is
 * defined below two pairs.
 */
export function pairedDifference(
  a: readonly number[],
  b: readonly number[],
  options?: IntervalOptions & { readonly clusters?: readonly unknown[] },
): PairedDifference {
  requireSameLength(a, b, 'the two sides of the pairs');
  requireNumbers(a, 'the values of the first side');
  requireNumbers(b, 'the values of the second side');
  const level = levelOf(options);
  const differences = a.map((value, i) => value - b[i]!);
  const middle = mean(differences);
  const clusters = options?.clusters;
  const hasSpread = varies(differences, Math.max(sizeOf(a), sizeOf(b)));
  const measured =
    clusters === undefined
      ? standardError(differences)
      : clusteredStandardError(differences, clusters);
  const se = measured === null || hasSpread ? measured : 0;
  const units = clusters === undefined ? differences.length : new Set(clusters).size;
  const r = correlation(a, b);
  if (middle === null || se === null) {
    const reason = 'there are fewer than two pairs to tell the spread from';
    return { mean: middle, se: null, t: null, df: null, p: null, low: null, high: null, r, reason };
  }
  const df = units - 1;
  const half = studentQuantile(level, df) * se;
  const t = se > 0 ? middle / se : null;
  return {
    mean: middle,
    se,
    t,
    df,
    p: t === null ? null : studentTwoSided(t, df),
    low: middle - half,
    high: middle + half,
    r,
    reason: t === null ? 'every difference is the same' : undefined,
  };
}

function correlation(a: readonly number[], b: readonly number[]): number | null {
  const middleA = mean(a);
  const middleB = mean(b);
  if (middleA === null || middleB === null) return null;
  let ab = 0;
  let aa = 0;
  let bb = 0;
  for (const [i, value] of a.entries()) {
    const da = value - middleA;
    const db = b[i]! - middleB;
    ab += da * db;
    aa += da * da;
    bb += db * db;
  }
  return varies(a) && varies(b) ? ab / Math.sqrt(aa * bb) : null;
}
