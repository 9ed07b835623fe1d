import type { MetricDelta } from '@agentci/results';

/** A number before and after, with the change in percent if it is defined. */
export function metricDelta(before: number | null, after: number | null): MetricDelta {
  if (before === null || after === null)
    return { before, after, change: null, pct_change: null, arrow: '—' };
  const change = after - before;
  const pct = before === 0 ? null : (change / Math.abs(before)) * 100;
  let arrow: '—' | '▲' | '▼';
  if (pct === null || change === 0) arrow = '—';
  else if (change > 0) arrow = '▲';
  else arrow = '▼';
  return { before, after, change, pct_change: pct, arrow };
}

/** Both sides are known and differ. */
export const isChanged = ({ change }: MetricDelta): boolean => change !== null && change !== 0;
