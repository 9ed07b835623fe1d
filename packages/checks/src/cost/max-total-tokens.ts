import { formatCount } from '@agentci/lib/text';
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
  wants: (max) => `At most ${formatCount(max)} tokens`,
  failure: {
    why: 'too many tokens',
    help: 'long tool results and long histories are the usual cause',
  },
  example: 2000,
  schema: v.number().int().min(0),
  evaluate: (max, { trace, totals }) =>
    atMost({ quantity: quantityOf(trace, totals.totalTokens), max, what: 'tokens' }),
});
