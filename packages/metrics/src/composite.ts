import { UserError } from '@agentci/lib/problems';
import { mean } from './input.ts';
import { defineMetric, type Metric, type MetricOutput, measured, notMeasured } from './metric.ts';
import { resolveMetrics } from './registry.ts';

/**
 * One number from several metrics: the mean of the measured ones. Only metrics with the same scale
 * and direction can be averaged, so dollars, tokens and rates that are better when lower are
 * refused.
 */
export function composite(
  metrics: readonly (string | Metric | Readonly<Record<string, object>>)[],
  { name = 'composite' }: { readonly name?: string } = {},
): Metric {
  const parts = metrics.length === 0 ? [] : resolveMetrics(metrics);
  for (const part of parts) {
    let why: string | undefined;
    if (part.scale === 'raw')
      why = `is measured in ${part.unit || 'a different unit'}, not from 0 to 1`;
    else if (part.better === 'lower') why = 'is better when lower';
    else if (part.scope === 'suite') why = 'is one value for a whole run';
    else why = undefined;
    if (why !== undefined)
      throw new UserError(
        'SPEC_VALUE',
        `composite: '${part.name}' ${why}, so its mean with others is meaningless`,
        {
          hint: 'Give it a separate bound instead.',
        },
      );
  }
  return defineMetric({
    name,
    group: 'composite',
    summary: `mean of ${parts.map((part) => part.name).join(', ')}`,
    evaluate: ({ params: _, ...input }) => {
      const outputs = parts.map((part) => part.evaluate(input));
      return outputs.some((output) => output instanceof Promise)
        ? Promise.all(outputs).then(combine)
        : combine(outputs as MetricOutput[]);
    },
  });
}

function combine(outputs: readonly MetricOutput[]) {
  const detail = Object.fromEntries(outputs.map((output) => [output.name, output.detail]));
  const values = outputs.flatMap(({ value }) => value ?? []);
  return values.length === 0
    ? notMeasured('no metric gave a value', detail)
    : measured(mean(values), detail);
}
