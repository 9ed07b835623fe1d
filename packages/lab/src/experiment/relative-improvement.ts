/**
 * The increase from `from` to `to` in percent of `from`. Null for zero, because the percentage is
 * undefined.
 */
export function relativeImprovement(from: number, to: number): number | null {
  const change = ((to - from) / Math.abs(from)) * 100;
  return Number.isFinite(change) ? change : null;
}
