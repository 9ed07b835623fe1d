import { z } from 'zod';

/** What a metric may be called. */
export const metricName = /^[A-Za-z][A-Za-z0-9_.-]*$/;
const name = z.string().regex(metricName, 'a metric is named in letters, digits and underscores');

/** A list item that is a map names one metric. */
export const listItemCount = 1;

/** The bound of a metric whose parameters are not known here. */
export const metricBound = z.union([
  z.number(),
  z.looseObject({
    min: z.number().optional(),
    max: z.number().optional(),
    severity: z.enum(['fail', 'warn']).optional(),
  }),
]);

const listItem = z.union([
  name,
  z.record(name, metricBound.nullable()).refine((item) => Object.keys(item).length === listItemCount, {
    message: 'a list item names one metric; start each one with its own dash',
    params: { code: 'SPEC_TYPE' },
  }),
]);

/** `metrics:` in its spellings: a name is measured, a number is a bound, a map has bounds and parameters. */
export const metricsSchema = z.union([
  z.array(listItem).min(1),
  z.record(name, metricBound.nullable()).refine((metrics) => Object.keys(metrics).length > 0, {
    message: 'no metric is named',
    params: { code: 'SPEC_EMPTY' },
  }),
]);

/** One metric a query asks for: its bounds, what a missed one means, and the metric's own parameters. */
export interface MetricRequest {
  readonly name: string;
  /** The number alone: a bound on the metric's better side. */
  readonly bound?: number;
  readonly min?: number;
  readonly max?: number;
  readonly severity?: 'fail' | 'warn';
  readonly params: Readonly<Record<string, unknown>>;
}

const requests = new WeakMap<object, readonly MetricRequest[]>();

/** The metrics of a query in one shape, whichever way they were spelt. What was written must have passed `metricsSchema`. */
export function metricRequests(written: unknown): readonly MetricRequest[] {
  if (typeof written !== 'object' || written === null) return [];
  let read = requests.get(written);
  if (read === undefined) {
    const items: unknown[] = Array.isArray(written) ? written : [written];
    read = items.flatMap((item) =>
      typeof item === 'string'
        ? [{ name: item, params: {} }]
        : Object.entries(item as object).map(([name, value]) => requestOf(name, value)),
    );
    requests.set(written, read);
  }
  return read;
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
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(severity === undefined ? {} : { severity }),
    params,
  };
}

/** It has a bound, so it decides something. */
export const isBounded = ({ bound, min, max }: MetricRequest): boolean =>
  bound !== undefined || min !== undefined || max !== undefined;
