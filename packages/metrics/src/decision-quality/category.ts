export const DECISION_QUALITY_CATEGORIES = ['excellent', 'good', 'mediocre', 'poor'] as const;
export type DecisionQualityCategory = (typeof DECISION_QUALITY_CATEGORIES)[number];

/**
 * The band of a score. The published ranges overlap at their ends, and a shared end belongs to the
 * better band.
 */
export function categoryOf(dq: number): DecisionQualityCategory {
  if (dq >= 0.7) return 'excellent';
  if (dq >= 0.5) return 'good';
  return dq >= 0.3 ? 'mediocre' : 'poor';
}

/** Whether an operator can use it: strictly above 0.5. */
export const isActionable = (dq: number): boolean => dq > 0.5;
