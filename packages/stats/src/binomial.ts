import { lnGamma } from './gamma.ts';
import { incompleteBeta } from './incomplete-beta.ts';

/** Natural logarithm of "n choose k". */
export const lnChoose = (n: number, k: number): number =>
  lnGamma(n + 1) - lnGamma(k + 1) - lnGamma(n - k + 1);

/** Up to this n, "n choose k" fits a double exactly. */
const EXACT_UP_TO = 50;

/** n choose k, exact if a double can hold it. */
export function choose(n: number, k: number): number {
  if (k < 0 || k > n) return 0;
  if (n > EXACT_UP_TO) return Math.exp(lnChoose(n, k));
  let product = 1;
  for (let i = 1; i <= Math.min(k, n - k); i++) product = (product * (n - i + 1)) / i;
  return Math.round(product);
}

/** Probability of exactly k heads in n throws of a fair coin. */
export const fairPmf = (k: number, n: number): number =>
  n <= EXACT_UP_TO ? choose(n, k) / 2 ** n : Math.exp(lnChoose(n, k) - n * Math.LN2);

/** Probability of at most k heads in n throws of a fair coin. */
export function fairCdf(k: number, n: number): number {
  if (k < 0) return 0;
  if (k >= n) return 1;
  if (n > EXACT_UP_TO) return incompleteBeta(0.5, n - k, k + 1);
  let ways = 0;
  for (let i = 0; i <= k; i++) ways += choose(n, i);
  return ways / 2 ** n;
}
