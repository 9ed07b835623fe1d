import type { Trace } from '@agentci/trace';
import { toolCalls, totals } from '@agentci/trace';
import { outcomeFields } from '../input.ts';
import { defineMetric, measured, notMeasured } from '../metric.ts';

export const metric = defineMetric({
  name: 'cost',
  group: 'operational',
  layer: 'cost',
  better: 'lower',
  scale: 'raw',
  unit: 'USD',
  needs: ['a cost in the trace or the outcome, or calls that can be priced'],
  summary: 'what the run cost in dollars',
  evaluate: (input) => {
    const { trace, price } = input;
    const reported = trace?.reported?.cost?.usd ?? dollars(outcomeFields(input).cost);
    if (reported !== undefined) return measured(reported, { cost: reported, source: 'reported' });
    if (!trace) return notMeasured('cost unknown: there is no trace');
    const tools = toolCosts(trace);
    if (!trace.steps.some((step) => step.kind === 'llm') && tools !== undefined)
      return measured(tools, { cost: tools, source: 'tool calls' });
    const { costUsd, costSource } = totals(trace, price ? { price } : {});
    if (!costUsd.exact) return notMeasured(`cost unknown: ${costUsd.why}`);
    // A total would have included tool costs, but a sum of model calls does not.
    const cost = costUsd.value + (tools ?? 0);
    return measured(cost, {
      cost,
      source: 'calls',
      prices: costSource?.prices === undefined ? undefined : costSource.prices,
    });
  },
});

const dollars = (value: unknown): number | undefined => {
  const amount = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof amount === 'number' && Number.isFinite(amount) && amount >= 0 ? amount : undefined;
};

/** Cost of the tool calls themselves. Undefined if no call reports it. */
function toolCosts(trace: Trace): number | undefined {
  const known = toolCalls(trace).flatMap((call) => dollars(call.meta?.cost) ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, usd) => sum + usd, 0);
}
