import { requireNumber } from './sample.ts';

/**
 * p-values corrected for multiple tests, for gates: the chance of any false alarm stays at the
 * level (Holm).
 */
export function holm(pValues: readonly number[]): number[] {
  requireShares(pValues);
  const n = pValues.length;
  const adjusted = new Array<number>(n);
  let floor = 0;
  for (const [rank, index] of ascending(pValues).entries()) {
    floor = Math.max(floor, Math.min(1, pValues[index]! * (n - rank)));
    adjusted[index] = floor;
  }
  return adjusted;
}

/**
 * p-values corrected for exploration: controls the expected share of false alarms among the
 * reported ones (Benjamini and Hochberg).
 */
export function benjaminiHochberg(pValues: readonly number[]): number[] {
  requireShares(pValues);
  const n = pValues.length;
  const adjusted = new Array<number>(n);
  let ceiling = 1;
  const order = ascending(pValues);
  for (let rank = n - 1; rank >= 0; rank--) {
    const index = order[rank]!;
    ceiling = Math.min(ceiling, (pValues[index]! * n) / (rank + 1));
    adjusted[index] = ceiling;
  }
  return adjusted;
}

function requireShares(pValues: readonly number[]): void {
  for (const p of pValues) requireNumber(p, 'a p-value', { min: 0, max: 1 });
}

const ascending = (values: readonly number[]): number[] =>
  [...values.keys()].sort((i, j) => values[i]! - values[j]!);
