import { z } from 'zod';
import type { Metric } from '../metrics/metric.ts';
import { findMetric } from '../metrics/registry.ts';
import type { Expert } from './expert.ts';
import { explainValue } from './explain-value.ts';
import { BOUND_SHAPE } from './metric-list.ts';
import { toZod } from './to-zod.ts';

/** The expert itself. Only what must answer at once (`parseSpec`) imports it; others load it when there is a question. */
export const zodExpert: Expert = {
  explain: (entry, schema, problems) => explainValue(entry, toZod(schema), problems),
  explainMetric: (name, entry, problems) => explainValue(entry, metricSchema(findMetric(name)!), problems),
};

const schemas = new WeakMap<Metric, z.ZodType>();

/** Bounds and the metric's own parameters in one map. */
function metricSchema(metric: Metric): z.ZodType {
  let schema = schemas.get(metric);
  if (schema === undefined) {
    const params = metric.params?.();
    const bounds = Object.fromEntries(Object.entries(BOUND_SHAPE).map(([key, bound]) => [key, toZod(bound)]));
    schema = z.strictObject({ ...(params instanceof z.ZodObject ? params.shape : {}), ...bounds });
    schemas.set(metric, schema);
  }
  return schema;
}
