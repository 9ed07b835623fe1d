import { setMaxListeners } from 'node:events';
import { SECRETS } from '../kit/secrets.ts';
import type { QueryResult } from '../results/run-result.ts';
import { classifyError, errorFacts } from '../runners/classify-error.ts';
import type { RunnerConfig } from '../runners/config.ts';
import { createRunner } from '../runners/create-runner.ts';
import { consume } from '../runners/module-stream.mjs';
import { AgentError, type Runner, type RunOutput } from '../runners/runner.ts';
import { givenOutput } from '../runners/stream/given-value.ts';
import { hasMetrics, type MetricRequest, metricRequests } from '../spec/metric-list.ts';
import { hasRubrics } from '../spec/rubric-items.ts';
import type { Query } from '../spec/suite.ts';
import { seededRandom } from '../stats/seeded-random.ts';
import type { Trace } from '../trace/model.ts';
import { errorResult } from './combine-runs.ts';
import { interpretOutput } from './interpret-output.ts';
import type { TraceJudge } from './judge-trace.ts';
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

/** Runs the agent for every pending query and writes each verdict down as soon as it is there. */
export async function collectLive(
  options: RunOptions,
  config: Exclude<RunnerConfig, { kind: 'replay' }> | AgentFunction,
  ledger: Ledger,
  judge: TraceJudge,
): Promise<void> {
  const settings: { timeoutMs?: number; retries?: number } = typeof config === 'function' ? {} : config;
  const workers = options.workers ?? DEFAULT_WORKERS;
  const timeoutMs = options.timeoutMs ?? settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const retries = options.retries ?? settings.retries ?? DEFAULT_RETRIES;
  const interrupt = options.signal ?? new AbortController().signal;
  // One listener for each query in progress: many workers are no leak.
  setMaxListeners(0, interrupt);
  const random = seededRandom(options.seed ?? 0);
  const around = { dir: options.suite.dir, env: options.env ?? {} };
  const watch =
    typeof config === 'function'
      ? undefined
      : await watchAgent(config, { ...around, onNote: (note) => options.onEvent?.(note) });
  const runner =
    typeof config === 'function'
      ? functionRunner(config)
      : await createRunner(config, {
          ...around,
          watch,
          timeoutMs,
          workers,
          watchResources: options.suite.queries.some(({ metrics }) => metricRequests(metrics).some(readsResources)),
        });

  const runOnce = async (query: Query, run: number): Promise<void> => {
    options.onEvent?.({ type: 'run_started', id: query.id, run });
    let output: RunOutput;
    try {
      output = await withRetries(() => attempt(runner, { query, run, timeoutMs, interrupt }), {
        retries,
        signal: interrupt,
        random,
        onRetry: (n, error, delayMs) =>
          options.onEvent?.({
            type: 'retrying',
            id: query.id,
            attempt: n,
            message: SECRETS.text(error.message),
            delayMs,
          }),
      });
    } catch (error) {
      refuse(query, run, error);
      return;
    }
    const settle = (): Promise<void> => settleRun(query, run, output);
    await (canWait(query, options) ? verdicts.add(settle) : settle());
  };

  const settleRun = async (query: Query, run: number, output: RunOutput): Promise<void> => {
    let trace: Trace;
    try {
      trace = withSecretWarning(await interpretOutput(output, query));
    } catch (error) {
      refuse(query, run, error);
      return;
    }
    // First the agent's cost: what is left of --max-cost is what the judge may use.
    ledger.spend(knownCost(trace), isCostKnown(trace));
    ledger.add(query, run, await judge(query, trace), trace);
  };

  const refuse = (query: Query, run: number, error: unknown): void => {
    if (!(error instanceof AgentError)) throw error;
    // What was running when the user stopped the run is not done: it stays open for --resume.
    if (!interrupt.aborted) ledger.add(query, run, errorResult(query, describe(error, retries)));
  };

  const verdicts = new VerdictQueue(workers);
  const stop = (): boolean => ledger.stopped() || verdicts.hasFailed();
  try {
    await runPool(ledger.pending(), { workers, stop }, ({ query, run }) => runOnce(query, run));
  } finally {
    await verdicts.settled();
    await runner.close();
    await watch?.close();
  }
  verdicts.throwFailure();
}

/** Whether the next agent may start before the verdict on this one. Not where it could stop the run, or asks a judge. */
const canWait = (query: Query, { failFast = false, maxCostUsd }: RunOptions): boolean =>
  !failFast && maxCostUsd === undefined && !hasRubrics(query) && !hasMetrics(query);

const RESOURCE_METRICS = new Set(['energy_consumption', 'carbon_emissions', 'resource_utilization']);

/** Watching a process costs a little and makes its traces longer, so it is done only where something reads it. */
const readsResources = ({ name }: MetricRequest): boolean => RESOURCE_METRICS.has(name);

interface Attempt {
  readonly query: Query;
  readonly run: number;
  readonly timeoutMs: number;
  readonly interrupt: AbortSignal;
}

async function attempt(runner: Runner, { query, run, timeoutMs, interrupt }: Attempt): Promise<RunOutput> {
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

function describe(error: AgentError, retries: number): NonNullable<QueryResult['error']> {
  const tries = retries === 0 ? '' : ` (after ${retries + 1} tries)`;
  return {
    kind: error.kind,
    message: error.kind === 'infra' ? `[INFRA] ${error.message}${tries}` : error.message,
    ...(error.stderr ? { stderr: error.stderr } : {}),
  };
}

/** A function of the caller's own, in this process: nothing can end it, so an abort only stops the waiting. */
function functionRunner(agent: AgentFunction): Runner {
  return {
    run: async ({ signal, query, id, run, metadata }): Promise<RunOutput> => {
      const started = performance.now();
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(new AgentError('infra', 'stopped')), { once: true });
      });
      try {
        const value = await Promise.race([agent(query, { id, run, metadata: metadata ?? {}, signal }), aborted]);
        const given = await Promise.race([consume(value, started), aborted]);
        return { ...givenOutput(given, {}), wallMs: performance.now() - started };
      } catch (error) {
        throw error instanceof AgentError ? error : classifyError(errorFacts(error), { prefix: 'the agent threw ' });
      }
    },
    close: async () => {},
  };
}

function knownCost(trace: Trace): number {
  if (trace.reported?.cost) return trace.reported.cost.usd;
  return trace.steps.reduce((sum, step) => sum + (step.kind === 'llm' ? (step.cost?.usd ?? 0) : 0), 0);
}

const isCostKnown = (trace: Trace): boolean =>
  trace.reported?.cost !== undefined ||
  (trace.captured.llmCalls === 'full' && trace.steps.every((step) => step.kind !== 'llm' || step.cost !== undefined));
