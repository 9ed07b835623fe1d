import { v } from '@agentci/lib/values';
import { quantityOf } from '@agentci/trace';
import { atMost } from '../bounds.ts';
import { defineCheck } from '../check.ts';
import { upTo } from '../wants.ts';

export const check = defineCheck({
  layer: 'cost',
  key: 'max_llm_calls',
  severity: 'warn',
  order: 40,
  summary: 'The run may call models at most this often.',
  wants: upTo('model call'),
  failure: { why: 'too many calls of the model', help: 'look for retries and loops' },
  example: 3,
  schema: v.number().int().min(0),
  evaluate: (max, { trace, totals }) =>
    atMost({ quantity: quantityOf(trace, totals.llmCalls), max, what: 'LLM calls' }),
});
