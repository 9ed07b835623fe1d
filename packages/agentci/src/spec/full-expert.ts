import { type ValueSchema, v } from '../kit/value-schema.ts';
import type { Metric } from '../metrics/metric.ts';
import { isOwnParams } from '../metrics/params.ts';
import { findMetric } from '../metrics/registry.ts';
import type { Expert } from './expert.ts';
import { explainValue } from './explain-value.ts';
import { BOUND_SHAPE } from './metric-list.ts';

/** The expert itself. Only what must answer at once (`parseSpec`) imports it; others load it when there is a question. */
export const fullExpert: Expert = {
  explain: explainValue,
  explainMetric: (name, entry, problems) =>
    explainValue(entry, metricSchema(findMetric(name)!), problems),
};

const schemas = new WeakMap<Metric, ValueSchema>();

/** Bounds and the metric's own parameters in one map. Parameters that a module checks itself are checked when it is loaded. */
function metricSchema(metric: Metric): ValueSchema {
  let schema = schemas.get(metric);
  if (schema === undefined) {
    const params = metric.params?.();
    if (params !== undefined && !isOwnParams(params)) schema = v.looseObject(BOUND_SHAPE);
    else schema = v.strictObject({ ...params?.shape, ...BOUND_SHAPE });
    schemas.set(metric, schema);
  }
  return schema;
}
