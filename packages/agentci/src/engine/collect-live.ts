import { setMaxListeners } from 'node:events';
import { SECRETS } from '../kit/secrets.ts';
import type { QueryResult } from '../results/run-result.ts';
import type { RunnerConfig } from '../runners/config.ts';
import { createRunner } from '../runners/create-runner.ts';
import { AgentError, type Runner, type RunOutput } from '../runners/runner.ts';
import { hasMetrics, type MetricRequest, metricRequests } from '../spec/metric-list.ts';
import { hasRubrics } from '../spec/rubric-items.ts';
import type { Query } from '../spec/suite.ts';
import { seededRandom } from '../stats/seeded-random.ts';
import type { Trace } from '../trace/model.ts';
import { errorResult } from './combine-runs.ts';
import type { TraceEvaluator } from './evaluate-trace.ts';
import { createFunctionRunner } from './function-runner.ts';
import { interpretOutput } from './interpret-output.ts';
import { isCostKnown, knownCost } from './known-cost.ts';
import type { Ledger } from './ledger.ts';
import { runPool } from './pool.ts';
import { withRetries } from './retry.ts';
import type { AgentFunction, RunOptions } from './run-options.ts';
import { withSecretWarning } from './secret-warning.ts';
import { VerdictQueue } from './verdict-queue.ts';
import { watchAgent } from './watch-agent.ts';

const DEFAULT_TIMEOUT_MS = 120_000;
const DEFAULT_RETRIES = 2;
const DEFAULT_WORKERS = 4;

type LiveRunner = Exclude<RunnerConfig, { kind: 'replay' }> | AgentFunction;

/** One run of one query. */
interface Run {
  readonly query: Query;
  readonly run: number;
}

/** What every run of the collection shares. */
interface Live {
  readonly options: RunOptions;
  readonly runner: Runner;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly interrupt: AbortSignal;
  readonly random: () => number;
  readonly verdicts: VerdictQueue;
  readonly ledger: Ledger;
  readonly evaluate: TraceEvaluator;
}

/** Runs the agent for every pending query and writes each verdict down as soon as it is there. */
export async function collectLive(
  options: RunOptions,
  config: LiveRunner,
  ledger: Ledger,
  evaluate: TraceEvaluator,
): Promise<void> {
  const settings: { timeoutMs?: number; retries?: number } = typeof config === 'function' ? {} : config;
  const workers = options.workers ?? DEFAULT_WORKERS;
  const timeoutMs = options.timeoutMs ?? settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const interrupt = options.signal ?? new AbortController().signal;
  // One listener for each query in progress: many workers are not a leak.
  setMaxListeners(0, interrupt);
  const verdicts = new VerdictQueue(workers);
  const agent = await openAgent(config, { options, timeoutMs, workers });
  const live: Live = {
    options,
    runner: agent.runner,
    timeoutMs,
    retries: options.retries ?? settings.retries ?? DEFAULT_RETRIES,
    interrupt,
    random: seededRandom(options.seed ?? 0),
    verdicts,
    ledger,
    evaluate,
  };
  const stop = (): boolean => ledger.stopped() || verdicts.hasFailed();
  try {
    await runPool(ledger.pending(), { workers, stop }, (run) => runOnce(live, run));
  } finally {
    await verdicts.settled();
    await agent.close();
  }
  verdicts.throwFailure();
}

interface OpenAgent {
  readonly runner: Runner;
  readonly close: () => Promise<void>;
}

/** The runner, and whoever watches what it runs. */
async function openAgent(
  config: LiveRunner,
  { options, timeoutMs, workers }: { options: RunOptions; timeoutMs: number; workers: number },
): Promise<OpenAgent> {
  if (typeof config === 'function') {
    const runner = createFunctionRunner(config);
    return { runner, close: () => runner.close() };
  }
  const around = { dir: options.suite.dir, env: options.env ?? {} };
  const watch = await watchAgent(config, { ...around, onNote: (note) => options.onEvent?.(note) });
  const watchResources = options.suite.queries.some(({ metrics }) => metricRequests(metrics).some(readsResources));
  const runner = await createRunner(config, { ...around, watch, timeoutMs, workers, watchResources }).catch(
    async (error) => {
      await watch?.close();
      throw error;
    },
  );
  const close = async (): Promise<void> => {
    await runner.close();
    await watch?.close();
  };
  return { runner, close };
}

const RESOURCE_METRICS = new Set(['energy_consumption', 'carbon_emissions', 'resource_utilization']);

/** Watching a process costs a little and makes its traces longer, so it is done only where something reads it. */
const readsResources = ({ name }: MetricRequest): boolean => RESOURCE_METRICS.has(name);

/** From the start of an agent to its verdict, which may be left to the queue. */
async function runOnce(live: Live, of: Run): Promise<void> {
  const { options, verdicts } = live;
  options.onEvent?.({ type: 'run_started', id: of.query.id, cell: of.query.cell, run: of.run });
  let output: RunOutput;
  try {
    output = await runWithRetries(live, of);
  } catch (error) {
    refuse(live, of, error);
    return;
  }
  const settle = (): Promise<void> => settleRun(live, of, output);
  await (canWait(of.query, options) ? verdicts.add(settle) : settle());
}

const runWithRetries = (live: Live, of: Run): Promise<RunOutput> =>
  withRetries(() => attempt(live, of), {
    retries: live.retries,
    signal: live.interrupt,
    random: live.random,
    onRetry: (n, error, delayMs) =>
      live.options.onEvent?.({
        type: 'retrying',
        id: of.query.id,
        cell: of.query.cell,
        attempt: n,
        message: SECRETS.text(error.message),
        delayMs,
      }),
  });

async function attempt({ runner, timeoutMs, interrupt }: Live, { query, run }: Run): Promise<RunOutput> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort('timeout'), timeoutMs);
  const onInterrupt = () => controller.abort('interrupt');
  interrupt.addEventListener('abort', onInterrupt, { once: true });
  try {
    return await runner.run({
      query: query.query,
      id: query.id,
      run,
      signal: controller.signal,
      ...(query.metadata ? { metadata: query.metadata } : {}),
      vars: query.vars,
      cell: query.cell,
    });
  } catch (error) {
    const stderr = error instanceof AgentError ? error.stderr : undefined;
    if (controller.signal.reason === 'timeout')
      throw new AgentError('infra', `no answer within ${timeoutMs} ms`, { stderr });
    throw error;
  } finally {
    clearTimeout(timer);
    interrupt.removeEventListener('abort', onInterrupt);
  }
}

/** Whether the next agent may start before the verdict on this one. Not where it could stop the run, or asks a judge. */
const canWait = (query: Query, { failFast = false, maxCostUsd }: RunOptions): boolean =>
  !failFast && maxCostUsd === undefined && !hasRubrics(query) && !hasMetrics(query);

/** Reads what the agent gave back, evaluates it and writes the verdict down. */
async function settleRun(live: Live, of: Run, output: RunOutput): Promise<void> {
  const { ledger, evaluate } = live;
  const { query, run } = of;
  let trace: Trace;
  try {
    trace = withSecretWarning(await interpretOutput(output, query));
  } catch (error) {
    refuse(live, of, error);
    return;
  }
  // First the agent's cost: what is left of --max-cost is what the judge may use.
  ledger.spend(knownCost(trace), isCostKnown(trace));
  ledger.add(query, run, await evaluate(query, trace), trace);
}

/** A fault of the agent is the run's result; any other is ours. */
function refuse({ interrupt, ledger, retries }: Live, { query, run }: Run, error: unknown): void {
  if (!(error instanceof AgentError)) throw error;
  // What was running when the user stopped the run is not done: it stays open for --resume.
  if (!interrupt.aborted) ledger.add(query, run, errorResult(query, describeError(error, retries)));
}

function describeError(error: AgentError, retries: number): NonNullable<QueryResult['error']> {
  const tries = retries === 0 ? '' : ` (after ${retries + 1} tries)`;
  return {
    kind: error.kind,
    message: error.kind === 'infra' ? `[INFRA] ${error.message}${tries}` : error.message,
    ...(error.stderr ? { stderr: error.stderr } : {}),
  };
}
