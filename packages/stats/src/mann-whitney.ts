import { normalTail } from './normal.ts';
import { midRanks } from './ranks.ts';
import { requireNumbers } from './sample.ts';

/** Up to these sizes, and without ties, the distribution of U is exact instead of approximated. */
const EXACT_PRODUCT = 400;
const EXACT_SMALLER = 8;
const EXACT_TOTAL = 200;

/**
 * Two-sided rank test of two samples. The statistic is U of the first. Null if a side is empty or
 * nothing varies.
 */
export function mannWhitney(
  a: readonly number[],
  b: readonly number[],
): { readonly statistic: number | null; readonly p: number | null } {
  requireNumbers(a, 'the values of the first sample');
  requireNumbers(b, 'the values of the second sample');
  if (a.length === 0 || b.length === 0) return { statistic: null, p: null };
  const { ranks, ties } = midRanks([...a, ...b]);
  const rankSum = ranks.slice(0, a.length).reduce((sum, rank) => sum + rank, 0);
  const statistic = rankSum - (a.length * (a.length + 1)) / 2;
  if (ties.length === 0 && isCountable(a.length, b.length))
    return { statistic, p: exactP(statistic, a.length, b.length) };
  const n = a.length + b.length;
  const tied = ties.reduce((sum, size) => sum + (size ** 3 - size), 0);
  const square = ((a.length * b.length) / 12) * (n + 1 - tied / (n * (n - 1)));
  if (!(square > 0)) return { statistic, p: null };
  const larger = Math.max(statistic, a.length * b.length - statistic);
  const z = (larger - (a.length * b.length) / 2 - 0.5) / Math.sqrt(square);
  return { statistic, p: Math.min(1, 2 * normalTail(z)) };
}

const isCountable = (n: number, m: number): boolean =>
  n * m <= EXACT_PRODUCT || (Math.min(n, m) <= EXACT_SMALLER && n + m <= EXACT_TOTAL);

/** Share of all orderings of both samples with a U at least as extreme. */
function exactP(statistic: number, n: number, m: number): number {
  const larger = Math.max(statistic, n * m - statistic);
  const ways = orders(Math.min(n, m), Math.max(n, m));
  let tail = 0;
  let all = 0;
  for (const [u, count] of ways.entries()) {
    all += count;
    if (u >= larger) tail += count;
  }
  return Math.min(1, (2 * tail) / all);
}

/**
 * Number of orderings per U: coefficients of the Gaussian binomial, multiplied factor by factor.
 */
function orders(n: number, m: number): Float64Array {
  const size = n * m + 1;
  const ways = new Float64Array(size);
  ways[0] = 1;
  for (let i = 1; i <= n; i++) {
    for (let u = size - 1; u >= m + i; u--) ways[u] = ways[u]! - ways[u - m - i]!;
    for (let u = i; u < size; u++) ways[u] = ways[u]! + ways[u - i]!;
  }
  return ways;
}
