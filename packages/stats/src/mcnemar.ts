import { fairCdf, fairPmf } from './binomial.ts';
import { requireCounts } from './interval.ts';

/**
 * Test of two verdicts on the same items: b went from pass to fail, c from fail to pass. Prefer
 * `midP`, since the exact test is too conservative. Both are 1 if nothing changed.
 */
export function mcnemar({ b, c }: { readonly b: number; readonly c: number }): {
  readonly exact: number;
  readonly midP: number;
} {
  requireCounts({ b, c });
  const n = b + c;
  if (n === 0) return { exact: 1, midP: 1 };
  const fewer = Math.min(b, c);
  const tail = 2 * fairCdf(fewer, n);
  const point = fairPmf(fewer, n);
  return { exact: Math.min(1, tail), midP: b === c ? 1 - point / 2 : Math.min(1, tail - point) };
}
