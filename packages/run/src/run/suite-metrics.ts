import { canonicalJson } from '@agentci/lib/data';
import { formatMeasure } from '@agentci/lib/numbers';
import type { LocalModels, Metric, MetricInput, MetricOutput } from '@agentci/metrics';
import type { CheckResult, MetricResult } from '@agentci/results';
import { caseKey } from '@agentci/results';
import type { Query } from '@agentci/spec';
import { isBounded, type MetricRequest, metricRequests } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { maskedReason } from '@agentci/trace';
import { recordingOf, TraceMatcher } from './match-traces.ts';
import { checkOf, metricInput, metricOf, metricResult } from './metric-checks.ts';
import type { RunOptions } from './run-options.ts';
import type { SuiteMetricParts } from './run-parts.ts';

type RunsOf = (query: Query) => number;

/** One metric over the whole run, with the traces of the queries that request it. */
interface Group {
  readonly request: MetricRequest;
  readonly metric: Metric;
  readonly location: CheckResult['location'] | undefined;
  readonly queries: Query[];
  /**
   * The input from each trace, by query and run, so that the order of arrival does not change the
   * result.
   */
  readonly kept: Map<string, MetricInput>;
}

const keyOf = (query: Query, run: number): string => `${run} ${caseKey(query)}`;

/** The report about the metrics of the whole run. */
export interface Overall {
  readonly checks: CheckResult[];
  readonly metrics: Record<string, MetricResult>;
  readonly notices: string[];
}

/** The metrics of a run: custom metrics, local models, and metrics over all traces. */
export class SuiteMetrics {
  readonly custom: ReadonlyMap<string, Metric>;
  readonly models: LocalModels | undefined;
  readonly #groups = new Map<string, Group>();
  readonly #byQuery = new Map<string, Group[]>();

  /** Loads modules and models only if queries request them. */
  static async load(options: RunOptions, queries: readonly Query[]): Promise<SuiteMetrics> {
    const { suite } = options;
    const measured = queries.some((query) => query.metrics !== undefined);
    const custom =
      suite.use.length === 0
        ? new Map<string, Metric>()
        : await import('./use-metrics.ts').then(({ loadUsedMetrics }) => loadUsedMetrics(suite));
    const models = measured
      ? await import('../local-models/create-local-models.ts').then(({ createLocalModels }) =>
          createLocalModels({ dir: suite.dir, env: options.env ?? {} }),
        )
      : undefined;
    return new SuiteMetrics(queries, { custom, models });
  }

  constructor(
    queries: readonly Query[],
    loaded: {
      readonly custom: ReadonlyMap<string, Metric>;
      readonly models: LocalModels | undefined;
    },
  ) {
    this.custom = loaded.custom;
    this.models = loaded.models;
    for (const query of queries) {
      for (const request of metricRequests(query.metrics)) {
        const metric = metricOf(request.name, this);
        if (metric?.scope !== 'suite' || metric.evaluateSuite === undefined) continue;
        const key = canonicalJson(request);
        const group = this.#groups.get(key) ?? {
          request,
          metric,
          location: query.locations?.[`metric.${request.name}`],
          queries: [],
          kept: new Map<string, MetricInput>(),
        };
        group.queries.push(query);
        this.#groups.set(key, group);
        const of = caseKey(query);
        this.#byQuery.set(of, [...(this.#byQuery.get(of) ?? []), group]);
      }
    }
  }

  /** Keeps the parts of a trace that metrics over the whole run need. */
  note = (query: Query, run: number, trace: Trace): void => {
    for (const { request, metric, kept } of this.#byQuery.get(caseKey(query)) ?? []) {
      // The input that a custom metric reads is unknown.
      if (this.custom.has(request.name) && maskedReason(trace) !== undefined) continue;
      const input = { ...metricInput(query, trace, {}), params: request.params };
      kept.set(keyOf(query, run), metric.keep?.(input) ?? input);
    }
  };

  /**
   * Reads the traces of runs that an earlier process finished. Needed only for metrics over the
   * whole run.
   */
  async noteResumed({ resumed, resumedTraces }: RunOptions, runsOf: RunsOf): Promise<void> {
    if (this.#groups.size === 0 || resumedTraces === undefined || (resumed?.length ?? 0) === 0)
      return;
    const { readTraces } = await import('@agentci/formats/read-traces');
    const queries = [...new Set([...this.#groups.values()].flatMap((group) => group.queries))];
    const matcher = new TraceMatcher(queries, runsOf);
    // The nth trace of a query belongs to its nth run with a trace. The exact run makes no
    // difference here.
    const runs = new Map<string, number[]>();
    for (const { id, run, result } of resumed ?? [])
      if (result.error === undefined || result.error.kind === 'trace') {
        const key = caseKey({ id, cell: result.cell });
        runs.set(key, [...(runs.get(key) ?? []), run]);
      }
    for await (const trace of readTraces(resumedTraces, {
      format: 'agentci',
      onProblem: () => {},
    })) {
      const match = matcher.take(recordingOf(trace));
      const run = match.kind === 'run' ? runs.get(caseKey(match.query))?.shift() : undefined;
      if (match.kind === 'run' && run !== undefined) this.note(match.query, run, trace);
    }
  }

  /** The input of each metric over the whole run, in the order of the spec. */
  parts(runsOf: RunsOf): SuiteMetricParts[] {
    return [...this.#groups.values()].map(({ request, location, queries, kept }) => ({
      request,
      isCustom: this.custom.has(request.name),
      location,
      inputs: queries.flatMap((query) =>
        Array.from({ length: runsOf(query) }, (_, i) => ({
          of: query.cell === undefined ? { id: query.id } : { id: query.id, cell: query.cell },
          run: i + 1,
          input: kept.get(keyOf(query, i + 1)) ?? null,
        })),
      ),
    }));
  }
}

/**
 * One value for each metric over the run. Metrics with a limit are checks of the run, the others
 * are notices.
 */
export async function measureOverall(
  groups: readonly SuiteMetricParts[],
  tools: { readonly custom?: ReadonlyMap<string, Metric> } = {},
): Promise<Overall> {
  const overall: Overall = { checks: [], metrics: {}, notices: [] };
  for (const group of groups) {
    const { request, location } = group;
    const metric =
      group.isCustom && tools.custom === undefined ? undefined : metricOf(request.name, tools);
    if (metric?.evaluateSuite === undefined) {
      overall.checks.push(notLoaded(group));
      continue;
    }
    const output = await measure(group, metric);
    overall.metrics[freeName(request.name, overall.metrics)] = metricResult(metric, output);
    if (isBounded(request)) {
      const check = checkOf({ request, metric, output, failure: undefined, location });
      overall.checks.push(check.status === 'pass' ? warned(check, output) : check);
    } else {
      const warning = warningOf(output);
      if (warning === undefined)
        overall.notices.push(`${metric.name} over the run: ${told(output, metric)}`);
      else overall.checks.push(unboundedWarning(metric, location, output, warning));
    }
  }
  return overall;
}

/** A merge reads shards and does not load their code. */
const notLoaded = ({ request, location }: SuiteMetricParts): CheckResult => ({
  id: `metric.${request.name}`,
  status: 'error',
  message: `${request.name} is measured over the whole run by your own module, which merge does not load: run its queries without --shard`,
  location,
  evidence: [],
});

/** Warnings of the metric, such as a budget that is nearly spent. */
const warningOf = ({ detail }: MetricOutput): string | undefined =>
  detail.warning === true ? 'its warn_threshold is reached' : undefined;

function warned(check: CheckResult, output: MetricOutput): CheckResult {
  const warning = warningOf(output);
  return warning === undefined
    ? check
    : { ...check, status: 'warn', message: `${check.message}; ${warning}` };
}

const unboundedWarning = (
  metric: Metric,
  location: CheckResult['location'],
  output: MetricOutput,
  warning: string,
): CheckResult => ({
  id: `metric.${metric.name}`,
  status: 'warn',
  message: `${metric.name} over the run: ${told(output, metric)}; ${warning}`,
  value: output.value,
  location,
  evidence: [],
});

const told = ({ value, detail }: MetricOutput, { scale, unit }: Metric): string =>
  value === null
    ? `not measured, ${String(detail.reason)}`
    : formatMeasure(value, scale === 'raw' && unit !== '' ? unit : undefined);

/** Queries may request one metric with different parameters. */
function freeName(name: string, taken: Readonly<Record<string, unknown>>): string {
  for (let n = 1; ; n++) {
    const free = n === 1 ? name : `${name}_${n}`;
    if (!Object.hasOwn(taken, free)) return free;
  }
}

async function measure(
  { request, inputs }: SuiteMetricParts,
  metric: Metric,
): Promise<MetricOutput> {
  const without = (reason: string): MetricOutput => ({
    name: metric.name,
    value: null,
    detail: { reason },
  });
  if (inputs.every(({ input }) => input === null)) return without('there was no trace');
  const { params } = request;
  try {
    return await metric.evaluateSuite!(
      // A run without a trace still counts: the metric must know that a value is missing.
      inputs.map(({ of, input }) => ({
        ...(input ?? { case: { id: of.id }, trace: null }),
        params,
      })),
    );
  } catch (error) {
    return without(
      `could not be measured: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
