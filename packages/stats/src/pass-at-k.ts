import { requireCounts } from './interval.ts';

export interface PassCounts {
  readonly n: number;
  readonly c: number;
  readonly k: number;
}

/**
 * Unbiased chance that at least one of k runs passes, from c passes in n runs. Null for fewer than
 * k runs.
 */
export function passAtK(counts: PassCounts): number | null {
  const { n, c, k } = valid(counts);
  if (k > n) return null;
  if (n - c < k) return 1;
  let none = 1;
  // 1 − C(n−c, k) / C(n, k) as a product, because the binomials alone would overflow.
  for (let i = 0; i < k; i++) none *= (n - c - i) / (n - i);
  return 1 - none;
}

/** Unbiased chance that all of k runs pass, from c passes in n runs. Null for fewer than k runs. */
export function passHatK(counts: PassCounts): number | null {
  const { n, c, k } = valid(counts);
  if (k > n) return null;
  let all = 1;
  for (let i = 0; i < k; i++) all *= Math.max(0, c - i) / (n - i);
  return all;
}

function valid(counts: PassCounts): PassCounts {
  const { n, c, k } = counts;
  requireCounts({ n, c, k });
  if (c > n) throw new RangeError(`${c} of ${n} runs passed`);
  if (k < 1) throw new RangeError('k is at least 1');
  return counts;
}
