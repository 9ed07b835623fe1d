import type { TrialMetric } from '@agentci/results';

/** Display names of metrics. */
export const METRIC_LABELS: Readonly<Record<TrialMetric, string>> = {
  dq: 'decision quality',
  t2u_s: 'time to understanding (s)',
  validity: 'validity',
  specificity: 'specificity',
  correctness: 'correctness',
  cost_usd: 'cost (USD)',
  total_tokens: 'tokens',
};

const DECIMALS: Readonly<Record<TrialMetric, number>> = {
  dq: 3,
  t2u_s: 2,
  validity: 3,
  specificity: 3,
  correctness: 3,
  cost_usd: 4,
  total_tokens: 0,
};

export const NONE = '–';

/** A value with the metric's number of decimals. */
export const formatValue = (metric: TrialMetric, value: number | null): string =>
  value === null ? NONE : value.toFixed(DECIMALS[metric]);

export const formatSigned = (value: number | null, decimals: number): string =>
  value === null ? NONE : `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(decimals)}`;

export const formatDifference = (metric: TrialMetric, value: number): string =>
  formatSigned(value, DECIMALS[metric]);

/** A p-value. Digits below a thousandth carry no information. */
export const formatP = (p: number | null): string => {
  if (p === null) return NONE;
  if (p < 0.001) return '< 0.001';
  return p.toFixed(3);
};

export const formatShare = (share: number): string => `${(share * 100).toFixed(1)} %`;
