import { z } from 'zod';
import { METRICS } from '../metrics/index.gen.ts';
import type { Metric } from '../metrics/metric.ts';
import { listItemCount, metricBound, metricName } from './metric-list.ts';
import { toZod } from './to-zod.ts';

/**
 * `metrics:` as editors know it: the catalogue's names with their parameters, to be completed and explained, and any other
 * name, since a module under `use` may bring it. The loader checks with `metricsSchema` and the metric itself instead: the
 * whole catalogue in one schema would have to be built for every spec that is read.
 */
export function editorMetricsSchema(): z.ZodType {
  const known = Object.fromEntries(METRICS.map((metric) => [metric.name, entryOf(metric).optional()]));
  const map = z
    .object(known)
    .catchall(toZod(metricBound.nullable()))
    .meta({ id: 'metric_map', propertyNames: { type: 'string', pattern: metricName.source } });
  const names = METRICS.map(({ name }) => name) as [string, ...string[]];
  const list = z.array(
    z.union([
      z.enum(names),
      z.string().regex(metricName),
      map.meta({ minProperties: listItemCount, maxProperties: listItemCount }),
    ]),
  );
  return z
    .union([list.min(1), map.meta({ minProperties: 1 })])
    .meta({ id: 'metrics', description: 'What is measured; a bound makes it a check' });
}

/** A number alone is the bound; a map has bounds and the metric's own parameters; nothing means: only measure it. */
function entryOf({ summary, better, scale, unit, params }: Metric): z.ZodType {
  const limit = scale === 'fraction' ? z.number().min(0).max(1) : z.number();
  const own = params?.();
  const map = z.strictObject({
    min: limit.optional().describe('The check misses below it'),
    max: limit.optional().describe('The check misses above it'),
    severity: z.enum(['fail', 'warn']).optional().describe('What a missed bound means'),
    ...(own instanceof z.ZodObject ? own.shape : {}),
  });
  const side = better === 'higher' ? 'at least' : 'at most';
  return z.union([limit, map, z.null()]).describe(`${summary} (${unit || 'a number'}; a number alone is "${side}")`);
}
