import { canonicalJson } from '../kit/hash.ts';
import type { LocalModels } from '../metrics/local-models.ts';
import type { Metric, MetricInput } from '../metrics/metric.ts';
import type { CheckResult } from '../results/run-result.ts';
import { isBounded, type MetricRequest, metricRequests } from '../spec/metric-list.ts';
import type { Query } from '../spec/suite.ts';
import type { Trace } from '../trace/model.ts';
import { checkOf, metricInput, metricOf } from './metric-checks.ts';
import type { RunOptions } from './run-options.ts';

/** One metric over the whole run, with the traces of the queries that ask for it. */
interface Group {
  readonly request: MetricRequest;
  readonly metric: Metric;
  readonly location: CheckResult['location'] | undefined;
  readonly inputs: MetricInput[];
}

/** The metrics of a run: the user's own, local models, and those measured once over all traces. */
export class SuiteMetrics {
  readonly custom: ReadonlyMap<string, Metric>;
  readonly models: LocalModels | undefined;
  readonly #groups = new Map<string, Group>();
  readonly #byQuery = new Map<string, Group[]>();
  readonly #isResumed: boolean;

  /** Loads modules and models only where the queries ask for them. */
  static async load(options: RunOptions, queries: readonly Query[]): Promise<SuiteMetrics> {
    const { suite } = options;
    const measured = queries.some((query) => query.metrics !== undefined);
    const custom =
      suite.use.length === 0
        ? new Map<string, Metric>()
        : await import('./use-metrics.ts').then(({ loadUsedMetrics }) => loadUsedMetrics(suite));
    const models = measured
      ? await import('./local-models.ts').then(({ createLocalModels }) =>
          createLocalModels({ dir: suite.dir, env: options.env ?? {} }),
        )
      : undefined;
    return new SuiteMetrics(queries, { custom, models, isResumed: (options.resumed?.length ?? 0) > 0 });
  }

  constructor(
    queries: readonly Query[],
    loaded: {
      readonly custom: ReadonlyMap<string, Metric>;
      readonly models: LocalModels | undefined;
      readonly isResumed: boolean;
    },
  ) {
    this.custom = loaded.custom;
    this.models = loaded.models;
    this.#isResumed = loaded.isResumed;
    for (const query of queries) {
      for (const request of metricRequests(query.metrics)) {
        const metric = metricOf(request.name, this);
        if (metric?.scope !== 'suite' || metric.evaluateSuite === undefined) continue;
        const key = canonicalJson(request);
        const known = this.#groups.get(key);
        const group = known ?? {
          request,
          metric,
          location: query.locations?.[`metric.${request.name}`],
          inputs: [],
        };
        this.#groups.set(key, group);
        this.#byQuery.set(query.id, [...(this.#byQuery.get(query.id) ?? []), group]);
      }
    }
  }

  /** Keeps of a trace what its query's run-wide metrics need. */
  note(query: Query, trace: Trace): void {
    for (const { request, metric, inputs } of this.#byQuery.get(query.id) ?? []) {
      const input = { ...metricInput(query, trace, {}), params: request.params };
      inputs.push(metric.keep?.(input) ?? input);
    }
  }

  /** The run-level checks, one for each bound; a metric without a bound is told as a notice. */
  async finish(): Promise<{ checks: CheckResult[]; notices: string[] }> {
    const checks: CheckResult[] = [];
    const notices: string[] = [];
    for (const { request, metric, location, inputs } of this.#groups.values()) {
      const output = await this.#measure(metric, request, inputs);
      if (isBounded(request)) checks.push(checkOf({ request, metric, output, failure: undefined, location }));
      else
        notices.push(
          `${metric.name} over the run: ${output.value === null ? `not measured, ${String(output.detail.reason)}` : output.value}`,
        );
    }
    return { checks, notices };
  }

  async #measure(metric: Metric, { params }: MetricRequest, inputs: readonly MetricInput[]) {
    const without = (reason: string) => ({ name: metric.name, value: null, detail: { reason } });
    if (this.#isResumed) return without('the traces of runs resumed from an earlier one are not at hand');
    if (inputs.length === 0) return without('there was no trace');
    try {
      return await metric.evaluateSuite!(inputs.map((input) => ({ ...input, params })));
    } catch (error) {
      return without(`could not be measured: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
