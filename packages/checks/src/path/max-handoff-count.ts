import { v } from '@agentci/lib/values';
import { handoffs, quantityOf } from '@agentci/trace';
import { atMost } from '../bounds.ts';
import { defineCheck } from '../check.ts';
import { upTo } from '../wants.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'max_handoff_count',
  severity: 'warn',
  order: 140,
  summary: 'The run may be handed off at most this often.',
  wants: upTo('handoff'),
  failure: { why: 'too many handoffs', help: 'look for agents that pass the query back and forth' },
  example: 1,
  schema: v.number().int().min(0),
  evaluate: (max, { trace, totals }) => {
    const quantity = quantityOf(trace, totals.handoffs);
    const over = handoffs(trace).slice(max, max + 20);
    const details = quantity.exact
      ? { details: { handoff_count: { actual: quantity.value, max } } }
      : {};
    return atMost({
      quantity,
      max,
      what: 'handoffs',
      rest: { ...details, evidence: over.map((step) => ({ step: step.seq, text: step.to })) },
    });
  },
});
