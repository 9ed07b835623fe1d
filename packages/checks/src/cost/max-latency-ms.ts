import { formatMs } from '@agentci/lib/numbers';
import { v } from '@agentci/lib/values';
import { quantityOf } from '@agentci/trace';
import { atMost } from '../bounds.ts';
import { defineCheck } from '../check.ts';

export const check = defineCheck({
  layer: 'cost',
  key: 'max_latency_ms',
  severity: 'warn',
  order: 50,
  summary: 'The run may take at most this many milliseconds.',
  wants: (max) => `A latency of at most ${formatMs(max)}`,
  failure: {
    why: 'the run took too long',
    help: 'the waterfall in the report shows the slow steps. Loading the agent is not counted',
  },
  example: 4000,
  schema: v.number().min(0),
  evaluate: (max, { trace, totals }) =>
    atMost({ quantity: quantityOf(trace, totals.latencyMs), max, what: 'latency', unit: 'ms' }),
});
