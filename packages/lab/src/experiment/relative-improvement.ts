/** How much larger `to` is than `from`, in percent of `from`. Null from zero, where no percentage exists. */
export function relativeImprovement(from: number, to: number): number | null {
  const change = ((to - from) / Math.abs(from)) * 100;
  return Number.isFinite(change) ? change : null;
}
