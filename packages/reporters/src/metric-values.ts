import { formatMeasure } from '@agentci/lib/numbers';
import type { MetricResult, QueryResult, RunResult } from '@agentci/results';
import { checksOf } from '@agentci/results';

/** A measured metric without a bound. A metric with a bound is a check. */
export interface MetricValue {
  readonly name: string;
  readonly result: MetricResult;
}

/** The metrics of a query without a bound, in spec order. */
export const freeMetrics = (result: QueryResult): MetricValue[] =>
  withoutCheck(result.metrics, new Set(checksOf(result).map(({ id }) => id)));

/** The run-level metrics without a bound. */
export const freeRunMetrics = ({ metrics = {}, checks }: RunResult): MetricValue[] =>
  withoutCheck(metrics, new Set(checks.map(({ id }) => id)));

const withoutCheck = (
  metrics: Readonly<Record<string, MetricResult>>,
  ids: ReadonlySet<string>,
): MetricValue[] =>
  Object.entries(metrics).flatMap(([name, result]) =>
    ids.has(`metric.${name}`) ? [] : [{ name, result }],
  );

/**
 * `latency 900 ms`, or `latency not measured (no times)`. An unmeasured metric is never a number.
 */
export function metricText({ name, result }: MetricValue): string {
  if (result.value === null)
    return `${name} not measured (${String(result.detail.reason ?? 'no reason given')})`;
  return `${name} ${formatMeasure(result.value, result.unit)}`;
}
