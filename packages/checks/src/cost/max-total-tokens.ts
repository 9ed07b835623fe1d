import { v } from '@agentci/lib/values';
import { quantityOf } from '@agentci/trace';
import { atMost } from '../bounds.ts';
import { defineCheck } from '../check.ts';

export const check = defineCheck({
  layer: 'cost',
  key: 'max_total_tokens',
  severity: 'warn',
  order: 30,
  summary: 'The run may use at most this many tokens, input and output together.',
  schema: v.number().int().min(0),
  evaluate: (max, { trace, totals }) =>
    atMost({ quantity: quantityOf(trace, totals.totalTokens), max, what: 'tokens' }),
});
