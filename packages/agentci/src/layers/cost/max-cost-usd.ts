import { v } from '../../kit/value-schema.ts';
import { quantityOf } from '../../trace/known-calls.ts';
import { atMost } from '../bounds.ts';
import { defineCheck } from '../check.ts';

export const check = defineCheck({
  layer: 'cost',
  key: 'max_cost_usd',
  severity: 'warn',
  order: 10,
  summary: 'The run may cost at most this many US dollars.',
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
