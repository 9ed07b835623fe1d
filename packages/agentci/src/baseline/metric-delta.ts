import type { MetricDelta } from '../results/diff.ts';

/** A number before and after, with its change in percent where there is one. */
export function metricDelta(before: number | null, after: number | null): MetricDelta {
  if (before === null || after === null)
    return { before, after, change: null, pct_change: null, arrow: '—' };
  const change = after - before;
  const pct = before === 0 ? null : (change / Math.abs(before)) * 100;
  const arrow = pct === null || change === 0 ? '—' : change > 0 ? '▲' : '▼';
  return { before, after, change, pct_change: pct, arrow };
}

/** Both sides are known and differ. */
export const isChanged = ({ change }: MetricDelta): boolean => change !== null && change !== 0;
