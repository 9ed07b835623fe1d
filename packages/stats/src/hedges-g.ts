import { cohensD } from './cohens-d.ts';
import { lnGamma } from './gamma.ts';

/** Cohen's d without its bias in small samples, a − b. Null if d is null. */
export function hedgesG(a: readonly number[], b: readonly number[]): number | null {
  const d = cohensD(a, b);
  if (d === null) return null;
  const half = (a.length + b.length - 2) / 2;
  // The exact factor needs at least two degrees of freedom: Γ(1)/(√1·Γ(½)).
  return half > 0.5 ? d * Math.exp(lnGamma(half) - lnGamma(half - 0.5) - Math.log(half) / 2) : null;
}
