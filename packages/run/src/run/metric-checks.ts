import { listed } from '@agentci/checks';
import type { Judge, JudgeMode } from '@agentci/judge';
import { unitFor } from '@agentci/lib/numbers';
import type { LocalModels, Metric, MetricCase, MetricInput, MetricOutput } from '@agentci/metrics';
import { findMetric } from '@agentci/metrics';
import {
  type CheckResult,
  type CheckStatus,
  LAYERS,
  type Layer,
  type MetricResult,
  withMore,
} from '@agentci/results';
import type { Query } from '@agentci/spec';
import { COMPOSITE, isBounded, type MetricRequest, metricRequests } from '@agentci/spec';
import type { PriceLookup, Trace } from '@agentci/trace';
import { maskedReason } from '@agentci/trace';
import { compactDetail } from './metric-detail.ts';

/** Input of metrics beyond the query and its trace. */
export interface MetricTools {
  readonly judge?: Judge | JudgeMode;
  readonly price?: PriceLookup;
  readonly models?: LocalModels;
  /** Metrics of the user's own modules, by name. */
  readonly custom?: ReadonlyMap<string, Metric>;
}

export interface Measurements {
  readonly metrics: Record<string, MetricResult>;
  readonly checks: Readonly<Record<Layer, CheckResult[]>>;
}

/** Finds a metric by name, custom metrics first. A suite never sees custom metrics of another. */
export const metricOf = (
  name: string,
  { custom }: Pick<MetricTools, 'custom'>,
): Metric | undefined => custom?.get(name) ?? findMetric(name);

/** The metric's input for a query. */
export function metricInput(
  query: Query,
  trace: Trace,
  { judge, price, models }: MetricTools,
): MetricInput {
  const { id, query: text, expectedOutput, context, metadata, conversation } = query;
  const measuredCase: MetricCase = {
    id,
    query: text,
    expected_output: expectedOutput,
    context,
    metadata,
    goal: conversation?.user?.goal,
    goal_tool: conversation?.user?.goalTool,
  };
  return {
    case: measuredCase,
    trace,
    judge: typeof judge === 'object' ? judge : undefined,
    price,
    models,
  };
}

/**
 * Measures every metric of a query. Metrics with a limit become checks `metric.<name>` in the
 * metric's layer.
 */
export async function measureQuery(
  query: Query,
  trace: Trace,
  tools: MetricTools,
): Promise<Measurements> {
  const input = metricInput(query, trace, tools);
  const metrics: Record<string, MetricResult> = {};
  const checks = Object.fromEntries(LAYERS.map((layer) => [layer, [] as CheckResult[]])) as Record<
    Layer,
    CheckResult[]
  >;
  const requests = metricRequests(query.metrics).filter(
    ({ name }) => metricOf(name, tools)?.scope !== 'suite',
  );
  const found = await Promise.all(
    requests.map(async (request) => ({ request, ...(await measure(request, input, tools)) })),
  );
  for (const { request, metric, output, failure } of found) {
    const { name } = request;
    metrics[name] = metricResult(metric, output);
    if (!isBounded(request)) continue;
    const check = checkOf({
      request,
      metric,
      output,
      failure,
      location: query.locations?.[`metric.${name}`],
    });
    checks[metric?.layer ?? 'correctness'].push(check);
  }
  return { metrics, checks };
}

/** A value for reports, with its unit if the number is unclear without one. */
export const metricResult = (
  metric: Metric | undefined,
  { value, detail }: MetricOutput,
): MetricResult => ({
  value,
  unit: metric?.scale === 'raw' && metric.unit !== '' ? metric.unit : undefined,
  detail: compactDetail(detail),
});

/** The reason for a missing value. */
type Failure = 'off' | 'error' | undefined;

interface Measured {
  readonly metric: Metric | undefined;
  readonly output: MetricOutput;
  readonly failure: Failure;
}

async function measure(
  request: MetricRequest,
  input: MetricInput,
  tools: MetricTools,
): Promise<Measured> {
  const { name, params } = request;
  const isComposite = name === COMPOSITE && tools.custom?.has(name) !== true;
  const metric = isComposite ? await compositeOf(params.of) : metricOf(name, tools);
  const without = (failure: Failure, reason: string): Measured => ({
    metric,
    output: { name, value: null, detail: { reason } },
    failure,
  });
  if (metric === undefined) return without('error', `there is no metric "${name}"`);
  // The input that a custom metric reads is unknown.
  const masked = tools.custom?.has(name) && input.trace ? maskedReason(input.trace) : undefined;
  if (masked !== undefined) return without('error', masked);
  if (params.method === 'model' && tools.judge === 'off') return without('off', 'the judge is off');
  try {
    const output = await metric.evaluate(isComposite ? input : { ...input, params });
    // Some metrics always need a judge.
    const isOff =
      tools.judge === 'off' && output.value === null && output.detail.method === 'model';
    let failure: Failure;
    if (isOff) {
      failure = 'off';
    } else if (output.detail.judge_error === undefined) {
      failure = undefined;
    } else {
      failure = 'error';
    }
    return {
      metric,
      output,
      failure,
    };
  } catch (error) {
    return without(
      'error',
      `could not be measured: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Its parts were validated when the spec was read. */
async function compositeOf(of: unknown): Promise<Metric | undefined> {
  const { composite } = await import('@agentci/metrics/composite');
  return Array.isArray(of) ? composite(of.map(String)) : undefined;
}

/** The verdict on a limit. Never passes without a number. */
export function checkOf(options: {
  readonly request: MetricRequest;
  readonly metric: Metric | undefined;
  readonly output: MetricOutput;
  readonly failure: Failure;
  readonly location: CheckResult['location'] | undefined;
}): CheckResult {
  const { request, metric, output, failure, location } = options;
  const { min, max } = boundsOf(request, metric);
  const severity =
    request.severity ??
    (metric?.layer === undefined || metric.layer === 'correctness' ? 'fail' : 'warn');
  const { value } = output;
  const limit = limitText(min, max);
  const method = typeof output.detail.method === 'string' ? `, ${output.detail.method}` : '';
  const base = {
    id: `metric.${request.name}`,
    limit: { min, max },
    wanted: `${request.name} of ${limit}`,
    location,
    evidence: evidenceOf(output.detail),
  };
  if (value === null && output.missed === true)
    return {
      ...base,
      status: severity,
      message: `${request.name}: ${String(output.detail.reason)} (${limit})`,
    };
  if (value === null) {
    let status: CheckStatus;
    if (failure === 'off') status = 'skip';
    else if (failure === 'error' || severity === 'fail') status = 'error';
    else status = 'skip';
    return {
      ...base,
      status,
      ...(status === 'skip'
        ? { skip_reason: failure === 'off' ? ('off' as const) : ('not_measured' as const) }
        : {}),
      message: `${request.name} was not measured: ${String(output.detail.reason)} (${limit})`,
    };
  }
  const holds = (min === undefined || value >= min) && (max === undefined || value <= max);
  const unit =
    metric?.scale === 'raw' && metric.unit !== '' ? ` ${unitFor(value, metric.unit)}` : '';
  return {
    ...base,
    status: holds ? 'pass' : severity,
    value,
    message: `${request.name}: ${show(value)}${unit} of ${limit}${method}${holds ? '' : turnsText(output.detail)}`,
  };
}

/** A bare number is the limit on the better side. */
function boundsOf(
  { bound, min, max }: MetricRequest,
  metric: Metric | undefined,
): { min?: number; max?: number } {
  const isLower = metric?.better === 'lower';
  const low = min ?? (isLower ? undefined : bound);
  const high = max ?? (isLower ? bound : undefined);
  return { min: low, max: high };
}

function limitText(min: number | undefined, max: number | undefined): string {
  const parts = [
    min === undefined ? '' : `at least ${show(min)}`,
    max === undefined ? '' : `at most ${show(max)}`,
  ];
  return parts.filter(Boolean).join(' and ');
}

const show = (value: number): string =>
  String(Math.abs(value) < 1e-4 ? value : Math.round(value * 1e4) / 1e4);

/** The turns of a conversation that contain a leak. */
function turnsText(detail: Readonly<Record<string, unknown>>): string {
  const found = ['detections', 'leakages', 'violations'].flatMap((key) =>
    Array.isArray(detail[key]) ? (detail[key] as { readonly turn?: unknown }[]) : [],
  );
  const turns = [
    ...new Set(found.flatMap(({ turn }) => (typeof turn === 'number' ? [turn] : []))),
  ].sort((a, b) => a - b);
  return turns.length === 0 ? '' : `, found in turn ${listed(turns.map(String))}`;
}

interface ToldDetection {
  readonly turn?: unknown;
  readonly type?: unknown;
  readonly location?: unknown;
  readonly masked?: unknown;
  readonly step?: unknown;
  readonly tool?: unknown;
  readonly argument?: unknown;
}

/** Shows the places of personal data with the data masked. */
function evidenceOf(detail: Readonly<Record<string, unknown>>): CheckResult['evidence'] {
  const { detections, num_detections } = detail;
  if (!Array.isArray(detections)) return [];
  const shown = (detections as ToldDetection[]).slice(0, 5).map((found) => ({
    text: `${String(found.type)} in ${placeOf(found)}: ${String(found.masked)}`,
    step: typeof found.step === 'number' ? found.step : undefined,
  }));
  const all = typeof num_detections === 'number' ? num_detections : detections.length;
  return withMore(shown, Math.max(0, all - shown.length));
}

function placeOf({ location, tool, argument, turn }: ToldDetection): string {
  if (typeof tool !== 'string')
    return `the ${String(location)}${typeof turn === 'number' ? ` of turn ${turn}` : ''}`;
  return `the arguments of ${tool}${typeof argument === 'string' && argument !== '' ? ` at ${argument}` : ''}`;
}
