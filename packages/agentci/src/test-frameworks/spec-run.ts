import type { CheckResult, QueryResult, RunResult } from '@agentci/results';
import { caseKey, caseText } from '@agentci/results';
import type { RunOptions } from '@agentci/run';
import { runSuite } from '@agentci/run';
import type { Query, Suite } from '@agentci/spec';
import { metricRequests, selectQueries } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { SpecFailure } from './failure-text.ts';
import { takeShard } from './shard.ts';

/** Options for running a spec as tests: those of `runSuite`, and those for test frameworks. */
export interface SpecTestOptions
  extends Omit<
    RunOptions,
    | 'suite'
    | 'signal'
    | 'onRecord'
    | 'onEvent'
    | 'resumed'
    | 'runId'
    | 'failFast'
    | 'shard'
    | 'onParts'
  > {
  /**
   * `1/4`: every fourth query, from the first. Use one shard in each of four test files, so that
   * the framework can divide the files.
   */
  readonly shard?: string;
  /** Lets the framework run queries concurrently, up to its own limit. */
  readonly concurrent?: boolean;
}

/** The result of the whole run, after all queries. */
export interface WholeRun {
  readonly results: readonly QueryResult[];
  readonly checks: readonly CheckResult[];
}

/**
 * Runs a spec query by query. Agents run inside their query's test, so the framework's filters and
 * retries apply. Recordings are read once, because the nth of two equal queries takes the nth
 * recording.
 */
export class SpecRun {
  readonly queries: readonly Query[];
  readonly #options: RunOptions;
  readonly #isRecorded: boolean;
  #shared: Promise<RunResult> | undefined;
  readonly #started = new Map<string, Promise<QueryResult>>();
  readonly #traces = new Map<string, Trace[]>();

  constructor(suite: Suite, { shard, concurrent: _, ...given }: SpecTestOptions) {
    this.queries = takeShard(selectQueries(suite, given), shard);
    const runner = given.runner ?? suite.runner;
    this.#isRecorded =
      given.traces !== undefined || (typeof runner === 'object' && runner.kind === 'replay');
    this.#options = {
      env: process.env,
      ...given,
      suite,
    };
  }

  /** The verdict on one query. Runs its agent, or waits for the shared recordings. */
  resultOf(query: Query, signal: AbortSignal): Promise<QueryResult> {
    const result = (this.#isRecorded ? this.#recorded() : this.#live(query, signal)).then((run) => {
      const found = run.results.find((each) => caseKey(each) === caseKey(query));
      if (run.interrupted || found === undefined)
        throw new SpecFailure(`${caseText(query)}: stopped before it was decided`);
      return found;
    });
    this.#started.set(caseKey(query), result);
    return result;
  }

  /** All results so far, and the checks over all of them. */
  async whole(): Promise<WholeRun> {
    if (this.#isRecorded) return this.#recorded();
    const settled = await Promise.allSettled(this.#started.values());
    const results = settled.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [outcome.value] : [],
    );
    return { results, checks: await this.#checksOverAll() };
  }

  #recorded(): Promise<RunResult> {
    this.#shared ??= runSuite({ ...this.#options, only: this.queries });
    return this.#shared;
  }

  #live(query: Query, signal: AbortSignal): Promise<RunResult> {
    const traces: Trace[] = [];
    this.#traces.set(caseKey(query), traces);
    const keeps = metricRequests(query.metrics).length > 0;
    return runSuite({
      ...this.#options,
      only: [query],
      signal,
      sink: {
        record: (_, trace) => {
          if (keeps && trace) traces.push(trace);
        },
      },
    });
  }

  /**
   * Metrics such as a privacy budget need all traces, so those of the single runs are measured
   * together.
   */
  async #checksOverAll(): Promise<readonly CheckResult[]> {
    const traces = [...this.#traces.values()].flat();
    if (traces.length === 0) return [];
    const only = this.queries.filter(
      (query) => (this.#traces.get(caseKey(query)) ?? []).length > 0,
    );
    // Only run-level checks are used. The queries have their verdicts, so no judge is called again.
    const { checks } = await runSuite({ ...this.#options, traces, only, judge: 'off' });
    return checks;
  }
}
