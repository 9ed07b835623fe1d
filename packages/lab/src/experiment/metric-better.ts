import type { TrialMetric } from '@agentci/results';

/** Which direction of each metric is better. */
export const BETTER: Readonly<Record<TrialMetric, 'higher' | 'lower'>> = {
  dq: 'higher',
  t2u_s: 'lower',
  validity: 'higher',
  specificity: 'higher',
  correctness: 'higher',
  cost_usd: 'lower',
  total_tokens: 'lower',
};
