import { cohensD } from './cohens-d.ts';
import { lnGamma } from './gamma.ts';

/** Cohen's d without its upward bias in small samples, a − b. Null where d is. */
export function hedgesG(a: readonly number[], b: readonly number[]): number | null {
  const d = cohensD(a, b);
  if (d === null) return null;
  const half = (a.length + b.length - 2) / 2;
  // With two degrees of freedom the exact factor is Γ(1)/(√1·Γ(½)): still defined; with fewer there is none.
  return half > 0.5 ? d * Math.exp(lnGamma(half) - lnGamma(half - 0.5) - Math.log(half) / 2) : null;
}
