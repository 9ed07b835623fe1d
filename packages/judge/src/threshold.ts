/**
 * The lowest passing score, 1 to 5, for a threshold between 0 and 1. Half a point rounds up: 0.9
 * needs 5 of 5.
 */
export function judgeThreshold(threshold: number): number {
  return Math.max(1, Math.min(5, Math.floor(threshold * 5 + 0.5)));
}
