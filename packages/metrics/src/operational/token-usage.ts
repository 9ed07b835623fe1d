import { isObject } from '@agentci/lib/data';
import { totals } from '@agentci/trace';
import { outcomeFields, ownField } from '../input.ts';
import { defineMetric, measured, notMeasured } from '../metric.ts';

export const metric = defineMetric({
  name: 'token_usage',
  group: 'operational',
  layer: 'cost',
  better: 'lower',
  scale: 'raw',
  unit: 'tokens',
  needs: ['token counts in the trace or the outcome'],
  summary: 'tokens of prompts and completions together',
  evaluate: (input) => {
    const { trace } = input;
    const { usage } = outcomeFields(input);
    if (trace?.reported?.usage === undefined && isObject(usage)) {
      const prompt = count(ownField(usage, 'prompt_tokens') ?? ownField(usage, 'input_tokens'));
      const completion = count(
        ownField(usage, 'completion_tokens') ?? ownField(usage, 'output_tokens'),
      );
      const total = totalOf(prompt, completion, count(ownField(usage, 'total_tokens')));
      if (total !== undefined) return measured(total, detailOf(prompt, completion, total));
    }
    if (!trace) return notMeasured('token usage unknown: there is no trace');
    const { inputTokens, outputTokens, totalTokens } = totals(trace);
    const prompt = inputTokens.exact ? inputTokens.value : undefined;
    const completion = outputTokens.exact ? outputTokens.value : undefined;
    if (totalTokens.exact)
      return measured(totalTokens.value, detailOf(prompt, completion, totalTokens.value));
    return notMeasured(
      `token usage unknown: ${totalTokens.why}`,
      detailOf(prompt, completion, undefined),
    );
  },
});

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** A total of 0 next to positive parts was left out. */
function totalOf(prompt?: number, completion?: number, total?: number): number | undefined {
  if (total !== undefined && total > 0) return total;
  if (prompt !== undefined && completion !== undefined) return prompt + completion;
  return total;
}

const detailOf = (prompt?: number, completion?: number, total?: number) => ({
  prompt_tokens: prompt ?? null,
  completion_tokens: completion ?? null,
  total_tokens: total ?? null,
});
