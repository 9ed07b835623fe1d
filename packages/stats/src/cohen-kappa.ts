import { requireSameLength } from './interval.ts';

/**
 * Agreement of two raters beyond chance: (p_o − p_e) / (1 − p_e). Null for no items, or if both
 * raters gave one and the same label throughout.
 */
export function cohenKappa(a: readonly unknown[], b: readonly unknown[]): number | null {
  requireSameLength(a, b, 'the two raters');
  for (const label of [...a, ...b]) if (Number.isNaN(label)) throw new RangeError('a label is NaN');
  const n = a.length;
  if (n === 0) return null;
  const countA = new Map<unknown, number>();
  const countB = new Map<unknown, number>();
  let agreed = 0;
  for (const [i, label] of a.entries()) {
    if (label === b[i]) agreed++;
    countA.set(label, (countA.get(label) ?? 0) + 1);
    countB.set(b[i], (countB.get(b[i]) ?? 0) + 1);
  }
  let byChance = 0;
  for (const [label, count] of countA) byChance += (count / n) * ((countB.get(label) ?? 0) / n);
  return byChance < 1 ? (agreed / n - byChance) / (1 - byChance) : null;
}
