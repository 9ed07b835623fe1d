import { formatUsd } from '@agentci/lib/numbers';
import { v } from '@agentci/lib/values';
import { quantityOf } from '@agentci/trace';
import { atMost } from '../bounds.ts';
import { defineCheck } from '../check.ts';

export const check = defineCheck({
  layer: 'cost',
  key: 'max_cost_usd',
  severity: 'warn',
  order: 10,
  summary: 'The run may cost at most this many US dollars.',
  wants: (max) => `A cost of at most ${formatUsd(max)}`,
  failure: { why: 'the run cost more', help: 'see the tokens of each call in the report' },
  example: 0.02,
  schema: v.number().min(0),
  evaluate: (max, { trace, totals }) => {
    const prices = totals.costSource?.prices;
    const note = prices === undefined ? {} : { note: `prices: ${prices}` };
    return atMost({
      quantity: quantityOf(trace, totals.costUsd),
      max,
      what: 'cost',
      unit: 'USD',
      ...note,
    });
  },
});
