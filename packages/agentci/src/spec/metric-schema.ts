import { type ValueSchema, v } from '../kit/value-schema.ts';
import { METRICS } from '../metrics/index.gen.ts';
import type { Metric } from '../metrics/metric.ts';
import { isOwnParams } from '../metrics/params.ts';
import { listItemCount, metricBound, metricName } from './metric-list.ts';

/**
 * `metrics:` as editors know it: the catalogue's names with their parameters, to be completed and explained, and any other
 * name, since a module under `use` may bring it. The loader checks with `metricsSchema` and the metric itself instead: the
 * whole catalogue in one schema would have to be built for every spec that is read.
 */
export function editorMetricsSchema(): ValueSchema {
  const known = Object.fromEntries(
    METRICS.map((metric) => [metric.name, entryOf(metric).optional()]),
  );
  const map = v
    .objectOf(known, metricBound.nullable())
    .named('metric_map')
    .keywords({ propertyNames: { type: 'string', pattern: metricName.source } });
  const names = METRICS.map(({ name }) => name) as [string, ...string[]];
  const bounded = (minProperties: number, maxProperties?: number): ValueSchema =>
    map.refine(() => true, { message: '' }).keywords({ minProperties, maxProperties });
  const item = bounded(listItemCount, listItemCount);
  const list = v.array(v.union([v.enum(names), v.string().regex(metricName), item]));
  return v
    .union([list.min(1), bounded(1)])
    .named('metrics')
    .describe('What is measured; a bound makes it a check');
}

/** A number alone is the bound; a map has bounds and the metric's own parameters; nothing means: only measure it. */
function entryOf({ summary, better, scale, unit, params }: Metric): ValueSchema {
  const limit = scale === 'fraction' ? v.number().min(0).max(1) : v.number();
  const own = params?.();
  const map = v.strictObject({
    min: limit.optional().describe('The check misses below it'),
    max: limit.optional().describe('The check misses above it'),
    severity: v.enum(['fail', 'warn']).optional().describe('What a missed bound means'),
    ...(own !== undefined && isOwnParams(own) ? own.shape : {}),
  });
  const side = better === 'higher' ? 'at least' : 'at most';
  return v
    .union([limit, map, v.null()])
    .describe(`${summary} (${unit || 'a number'}; a number alone is "${side}")`);
}
