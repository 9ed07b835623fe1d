import type { TrialMetric } from '@agentci/results';

/** Which side of each metric is the good one. */
export const BETTER: Readonly<Record<TrialMetric, 'higher' | 'lower'>> = {
  dq: 'higher',
  t2u_s: 'lower',
  validity: 'higher',
  specificity: 'higher',
  correctness: 'higher',
  cost_usd: 'lower',
  total_tokens: 'lower',
};
