import { v } from '@agentci/lib/values';
import { DEFAULT_METRICS } from '@agentci/metrics';
import type { Query } from './suite.ts';

/** Pattern of metric names. */
export const metricName = /^[A-Za-z][A-Za-z0-9_.-]*$/;
const name = v.string().regex(metricName, 'a metric is named in letters, digits and underscores');

/** A map as a list item has exactly one metric. */
export const listItemCount = 1;

/** Keys allowed next to a metric's own parameters. */
export const BOUND_SHAPE = {
  min: v.number().optional(),
  max: v.number().optional(),
  severity: v.enum(['fail', 'warn']).optional(),
};

/** The limit of a metric whose parameters are unknown here. */
export const metricBound = v.union([v.number(), v.looseObject(BOUND_SHAPE)]);

const listItem = v.union([
  name,
  v
    .record(name, metricBound.nullable())
    .refine((item) => Object.keys(item).length === listItemCount, {
      message: 'a list item names one metric, so start each one with a dash',
      code: 'SPEC_VALUE',
    }),
]);

/**
 * The forms of `metrics:`: a name is measured, a number is a limit, a map has limits and
 * parameters.
 */
export const metricsSchema = v.union([
  v.array(listItem).min(1),
  v.record(name, metricBound.nullable()).refine((metrics) => Object.keys(metrics).length > 0, {
    message: 'no metric is named',
    code: 'SPEC_EMPTY',
  }),
]);

/**
 * A metric requested by a query: its limits, the severity of a miss, and the metric's own
 * parameters.
 */
export interface MetricRequest {
  readonly name: string;
  /** A bare number: a limit on the metric's better side. */
  readonly bound?: number;
  readonly min?: number;
  readonly max?: number;
  readonly severity?: 'fail' | 'warn';
  readonly params: Readonly<Record<string, unknown>>;
}

/** The metrics of a query in a single form. The input must have passed `metricsSchema`. */
export function metricRequests(written: unknown): readonly MetricRequest[] {
  if (typeof written !== 'object' || written === null) return [];
  const items: unknown[] = Array.isArray(written) ? written : [written];
  return withoutRepeats(
    items.flatMap((item) =>
      typeof item === 'string'
        ? namedBy(item)
        : Object.entries(item as object).map(([name, value]) => requestOf(name, value)),
    ),
  );
}

/** The name of the default set in a spec. */
export const DEFAULT_SET = 'default';
/** The mean of other metrics: `composite: {of: [faithfulness, tool_success], min: 0.8}`. */
export const COMPOSITE = 'composite';

const namedBy = (name: string): MetricRequest[] =>
  (name === DEFAULT_SET ? DEFAULT_METRICS : [name]).map((each) => ({ name: each, params: {} }));

/** A metric of the default set that is also listed explicitly counts as listed. */
function withoutRepeats(all: readonly MetricRequest[]): readonly MetricRequest[] {
  const plain = (request: MetricRequest): boolean =>
    !isBounded(request) && Object.keys(request.params).length === 0;
  const written = new Set(all.filter((request) => !plain(request)).map(({ name }) => name));
  const seen = new Set<string>();
  return all.filter((request) => {
    if (plain(request) && (written.has(request.name) || seen.has(request.name))) return false;
    if (plain(request)) seen.add(request.name);
    return true;
  });
}

function requestOf(name: string, value: unknown): MetricRequest {
  if (typeof value === 'number') return { name, bound: value, params: {} };
  if (typeof value !== 'object' || value === null) return { name, params: {} };
  const { min, max, severity, ...params } = value as {
    min?: number;
    max?: number;
    severity?: 'fail' | 'warn';
  };
  return {
    name,
    min,
    max,
    severity,
    params,
  };
}

/** The query requests metrics. */
export const hasMetrics = ({ metrics }: Pick<Query, 'metrics'>): boolean =>
  metricRequests(metrics).length > 0;

/** It has a limit, so it gives a verdict. */
export const isBounded = ({ bound, min, max }: MetricRequest): boolean =>
  bound !== undefined || min !== undefined || max !== undefined;
