import type { Budget } from '@agentci/judge';
import { SECRETS } from '@agentci/lib/secrets';
import type { CassetteUse, QueryError, QueryResult } from '@agentci/results';
import { type Cell, caseKey, maskResult } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { combineRuns, errorResult, notRunResult, skippedResult } from './combine-runs.ts';
import { wasInterrupted } from './rubric-checks.ts';
import type { RunOptions } from './run-options.ts';
import { maskedWarning, SECRET_MASKED } from './secret-warning.ts';
import { storedCost } from './stored-cost.ts';

/** Called once with every trace that belongs to a run of a query. */
export type TraceListener = (query: Query, run: number, trace: Trace) => void;

/**
 * The state of a run: finished repeats, money spent, whether to continue, and finally one result
 * per query.
 */
export class Ledger implements Budget {
  readonly #options: RunOptions;
  readonly #queries: readonly Query[];
  /** Run 1 by id and cell. Most queries have no other. */
  readonly #first = new Map<string, QueryResult>();
  readonly #further = new Map<string, Map<number, QueryResult>>();
  readonly #overruled = new Map<string, QueryError>();
  #spentUsd = 0;
  #reservedUsd = 0;
  #unpricedRuns = 0;
  #stopped: 'fail_fast' | 'max_cost' | undefined;
  readonly #onTrace: TraceListener | undefined;
  /**
   * The traces come from files, so one search through a whole result is enough. Live texts are
   * searched individually.
   */
  readonly #isRecorded: boolean;

  constructor(
    options: RunOptions,
    queries: readonly Query[],
    onTrace?: TraceListener,
    isRecorded = false,
  ) {
    this.#isRecorded = isRecorded;
    this.#options = options;
    this.#queries = queries;
    this.#onTrace = onTrace;
    const selected = new Set(queries.map(caseKey));
    for (const { id, run, result } of options.resumed ?? []) {
      const key = caseKey({ id, cell: result.cell });
      if (!selected.has(key)) continue;
      this.#put(key, run, result);
      const { usd, isWhole } = storedCost(result, { isRecorded });
      this.spend(usd, isWhole);
    }
    // A resumed run stops at the same limit.
    const wasResumed = options.resumed !== undefined && options.resumed.length > 0;
    if (wasResumed && options.failFast && queries.some((query) => this.#hasFailed(query)))
      this.#stopped ??= 'fail_fast';
  }

  /** Every pending run: each query once before any second run starts. */
  pending(): { query: Query; run: number }[] {
    const pending: { query: Query; run: number }[] = [];
    for (const query of this.#queries) {
      if (query.skip !== undefined) continue;
      for (let run = 1; run <= this.runsOf(query); run++)
        if (!this.has(query, run)) pending.push({ query, run });
    }
    return pending.sort((a, b) => a.run - b.run);
  }

  runsOf = (query: Query): number => this.#options.runs ?? query.runs;

  has(query: Query, run: number): boolean {
    const key = caseKey(query);
    return run === 1 ? this.#first.has(key) : (this.#further.get(key)?.has(run) ?? false);
  }

  /** Records a finished run, first on disk and then in memory. */
  add(query: Query, run: number, given: QueryResult, trace?: Trace): void {
    // A judge that the user interrupted leaves the run open for --resume.
    if (this.interrupted && (wasInterrupted(given.correctness.details) || hasCutMetric(given)))
      return;
    const json = this.#isRecorded && !SECRETS.isEmpty ? JSON.stringify(given) : undefined;
    const isClean = json !== undefined && !SECRETS.mayBeIn(json);
    const result = isClean ? given : withoutSecrets(given);
    const { sink } = this.#options;
    sink?.record?.({ id: query.id, run, result, json: isClean ? json : undefined }, trace);
    this.#put(
      caseKey(query),
      run,
      sink?.keep !== undefined && this.#isAlone(query) ? sink.keep(result) : result,
    );
    if (trace) this.#onTrace?.(query, run, trace);
    sink?.event?.({ type: 'run_ended', id: query.id, run, result });
    if (this.#options.failFast && this.#hasFailed(query)) this.#stopped ??= 'fail_fast';
  }

  /** The result of a query with a single run is the result of that run. */
  #isAlone = (query: Query): boolean => this.runsOf(query) === 1 && query.xfail === undefined;

  /** A fact found after the verdict on a run. The verdict no longer holds. */
  revoke(
    about: { readonly id: string; readonly run: number; readonly cell?: Cell | undefined },
    error: QueryError,
    use?: CassetteUse,
  ): void {
    const key = caseKey(about);
    const query = this.#queries.find((one) => one.id === about.id && caseKey(one) === key);
    if (query === undefined || !this.has(query, about.run)) return;
    const found = errorResult(query, error);
    const result = withoutSecrets(use === undefined ? found : { ...found, cassette: use });
    this.#options.sink?.record?.(
      { id: query.id, run: about.run, result, revokes: true },
      undefined,
    );
    this.#put(key, about.run, result);
  }

  /** A trace that already has a verdict, from the run that is resumed. */
  seen(query: Query, run: number, trace: Trace): void {
    this.#onTrace?.(query, run, trace);
  }

  /**
   * Whether the query failed, once all its runs are in. Expected failures and failures that
   * `min_pass_rate` allows do not count.
   */
  #hasFailed(query: Query): boolean {
    const runs = this.#finished(query);
    if (runs.length === 0 || runs.length < this.runsOf(query)) return false;
    const { status } = combineRuns(query, runs);
    return status === 'fail' || status === 'error';
  }

  /** A late reason that voids every run of a query. */
  overrule(query: Query, error: QueryError): void {
    this.#overruled.set(caseKey(query), error);
  }

  /** The known cost so far. */
  get spentUsd(): number {
    return this.#spentUsd;
  }

  /** Unknown costs are counted separately, because `--max-cost` can only limit known ones. */
  spend(usd: number, isComplete = true): void {
    if (!isComplete) this.#unpricedRuns++;
    this.#spentUsd += usd;
    const { maxCostUsd } = this.#options;
    if (maxCostUsd !== undefined && this.#spentUsd >= maxCostUsd) this.#stopped ??= 'max_cost';
  }

  /**
   * Another process has found that `--max-cost` is reached. Floating-point sums can differ in the
   * last digit.
   */
  reachMaxCost(): void {
    this.#stopped ??= 'max_cost';
  }

  /** Reserves money for a call of the judge. False if the call could exceed `--max-cost`. */
  reserve(usd: number): boolean {
    const { maxCostUsd } = this.#options;
    if (maxCostUsd !== undefined && this.#spentUsd + this.#reservedUsd + usd > maxCostUsd)
      return false;
    this.#reservedUsd += usd;
    return true;
  }

  settle(reservedUsd: number, actualUsd: number): void {
    this.#reservedUsd -= reservedUsd;
    this.spend(actualUsd);
  }

  /** Number of runs that `--max-cost` could not count. */
  get unpricedRuns(): number {
    return this.#unpricedRuns;
  }

  /** Whether to start no further runs. */
  stopped = (): boolean => this.#stopped !== undefined || this.interrupted;

  get interrupted(): boolean {
    return this.#options.signal?.aborted ?? false;
  }

  /** Exactly one result per selected query, in spec order. */
  results(): QueryResult[] {
    return this.#queries.map((query) => {
      if (query.skip !== undefined) return skippedResult(query, query.skip);
      const overruled = this.#overruled.get(caseKey(query));
      if (overruled) return errorResult(query, overruled);
      const runs = this.#finished(query);
      return runs.length < this.runsOf(query) && this.stopped()
        ? this.#unfinished(query, runs)
        : combineRuns(query, runs);
    });
  }

  #unfinished(query: Query, runs: readonly QueryResult[]): QueryResult {
    if (this.#stopped === 'max_cost') {
      const limit = this.#options.maxCostUsd;
      return errorResult(query, {
        kind: 'budget',
        message: `not run: --max-cost ${limit} was reached ($${this.#spentUsd.toFixed(4)} spent)`,
      });
    }
    // A failed run is shown even if the other runs are missing.
    if (runs.some((run) => run.status === 'fail' || run.status === 'error'))
      return combineRuns(query, runs);
    return notRunResult(
      query,
      this.interrupted
        ? 'the run was interrupted'
        : 'stopped after the first failure (--fail-fast)',
    );
  }

  /** The finished runs of a query, in order. */
  #finished(query: Query): QueryResult[] {
    const key = caseKey(query);
    const first = this.#first.get(key);
    const runs = first === undefined ? [] : [first];
    const further = this.#further.get(key);
    if (further === undefined) return runs;
    return runs.concat([...further].sort(([a], [b]) => a - b).map(([, result]) => result));
  }

  #put(key: string, run: number, result: QueryResult): void {
    if (run === 1) {
      this.#first.set(key, result);
      return;
    }
    const runs = this.#further.get(key);
    if (runs) runs.set(run, result);
    else this.#further.set(key, new Map([[run, result]]));
  }
}

const hasCutMetric = ({ metrics }: QueryResult): boolean =>
  Object.values(metrics).some(({ detail }) => detail.judge_error === 'interrupted');

/**
 * A result for storage. Its checks saw the real output of the agent, but reports and files must not
 * repeat a secret in it.
 */
export function withoutSecrets(result: QueryResult): QueryResult {
  const found = new Set<string>();
  const masked = maskResult(result, (name) => found.add(name));
  const { warnings = [] } = masked;
  const isTold = warnings.some(({ code }) => code === SECRET_MASKED);
  return found.size === 0 || isTold
    ? masked
    : { ...masked, warnings: [...warnings, maskedWarning(found)] };
}
