import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { sha256Hex } from '../kit/hash.ts';
import { SECRETS } from '../kit/secrets.ts';
import { UserError } from '../kit/user-error.ts';
import { caseKey } from '../results/cell.ts';
import type { QueryResult, RunResult } from '../results/run-result.ts';
import type { RunnerConfig } from '../runners/config.ts';
import { createRunner } from '../runners/create-runner.ts';
import {
  AgentError,
  type RunAbout,
  type Runner,
  type RunnerEnvironment,
  type RunOutput,
  type TurnRequest,
} from '../runners/runner.ts';
import { hasMetrics, type MetricRequest, metricRequests } from '../spec/metric-list.ts';
import { hasRubrics } from '../spec/rubric-items.ts';
import type { ConversationPlan, Query, StatePlan } from '../spec/suite.ts';
import { seededRandom } from '../stats/seeded-random.ts';
import type { Trace } from '../trace/model.ts';
import { spendsMoney } from './cassette-use.ts';
import type { Cassettes } from './cassettes.ts';
import { errorResult } from './combine-runs.ts';
import type { Talk, TurnError } from './converse.ts';
import { unfinished } from './evaluate-conversation.ts';
import type { TraceEvaluator } from './evaluate-trace.ts';
import { createFunctionRunner } from './function-runner.ts';
import { interpretOutput } from './interpret-output.ts';
import { isCostKnown, knownCost } from './known-cost.ts';
import type { Ledger } from './ledger.ts';
import type { UserModels, UserTapeAccess } from './model-user.ts';
import { keptResult, playedResult, playedTrace } from './played.ts';
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
  /** Makes the ids of conversations differ from those of other runs: an agent may remember them. */
  readonly token: string;
  /** Models that play users; absent where no query needs one. */
  readonly users: UserModels | undefined;
  readonly cassettes: Cassettes | undefined;
}

/** Runs the agent for every pending query and writes each verdict down as soon as it is there. */
export async function collectLive(
  options: RunOptions,
  config: LiveRunner,
  ledger: Ledger,
  evaluate: TraceEvaluator,
): Promise<RunResult['user']> {
  const settings: { timeoutMs?: number; retries?: number } = typeof config === 'function' ? {} : config;
  const workers = options.workers ?? DEFAULT_WORKERS;
  const timeoutMs = options.timeoutMs ?? settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const interrupt = options.signal ?? new AbortController().signal;
  // One listener for each query in progress: many workers are not a leak.
  setMaxListeners(0, interrupt);
  const verdicts = new VerdictQueue(workers);
  const cassettes = await openCassettes(options, config);
  const runs = ledger.pending().map(aboutOf);
  const voids: [RunAbout, string][] = [];
  const onVoid: RunnerEnvironment['onVoid'] = (about, why) => voids.push([about, why]);
  const agent = await openAgent(config, { options, timeoutMs, workers, cassettes, runs, onVoid });
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
    token: options.runId ?? randomUUID(),
    users: options.suite.queries.some(({ conversation }) => conversation?.user !== undefined)
      ? new (await import('./model-user.ts')).UserModels(options, ledger)
      : undefined,
    cassettes,
  };
  const stop = (): boolean => ledger.stopped() || verdicts.hasFailed();
  try {
    await runPool(ledger.pending(), { workers, stop }, (run) => runOnce(live, run));
  } finally {
    await verdicts.settled();
    await cassettes?.settle();
    await agent.close();
    for (const [about, message] of voids) ledger.revoke(about, { kind: 'agent', message });
  }
  verdicts.throwFailure();
  return live.users?.usage();
}

interface OpenAgent {
  readonly runner: Runner;
  readonly close: () => Promise<void>;
}

/** The runner, and whoever watches what it runs. */
async function openAgent(
  config: LiveRunner,
  {
    options,
    timeoutMs,
    workers,
    cassettes,
    runs,
    onVoid,
  }: {
    options: RunOptions;
    timeoutMs: number;
    workers: number;
    cassettes: Cassettes | undefined;
    runs: readonly RunAbout[];
    onVoid: RunnerEnvironment['onVoid'];
  },
): Promise<OpenAgent> {
  if (typeof config === 'function') {
    const runner = createFunctionRunner(config);
    return { runner, close: () => runner.close() };
  }
  const around = { dir: options.suite.dir, env: options.env ?? {} };
  const onNote: Parameters<typeof watchAgent>[1]['onNote'] = (note) => options.onEvent?.(note);
  const watch = await watchAgent(config, { ...around, onNote, cassettes, runs });
  const watchResources = options.suite.queries.some(({ metrics }) => metricRequests(metrics).some(readsResources));
  const runner = await createRunner(config, { ...around, watch, timeoutMs, workers, watchResources, onVoid }).catch(
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
  const unprepared = live.cassettes?.prepare(aboutOf(of));
  if (unprepared !== undefined) {
    live.ledger.add(of.query, of.run, playedResult(of.query, unprepared));
    return;
  }
  let given: Given;
  try {
    const { state } = of.query;
    given = await runWithRetries(live, of);
    // Right after the run: the next one may change it.
    if (state !== undefined) given = await withEndState(live, of, state, given);
  } catch (error) {
    refuse(live, of, error);
    return;
  }
  const settle = (): Promise<void> => settleRun(live, of, given);
  await (canWait(of.query, options) ? verdicts.add(settle) : settle());
}

/** What came of a run: as the agent gave it, or as a trace already. */
type Given = { readonly output: RunOutput } | { readonly trace: Trace };

const traceOf = async (given: Given, query: Query): Promise<Trace> =>
  'trace' in given ? given.trace : interpretOutput(given.output, query);

async function withEndState(live: Live, { query, run }: Run, state: StatePlan, given: Given): Promise<Given> {
  const { options, interrupt } = live;
  const { readEndState } = await import('./read-end-state.ts');
  const around = { dir: options.suite.dir, env: options.env ?? {}, run, interrupt };
  return { trace: await readEndState(query, state, await traceOf(given, query), around) };
}

const runWithRetries = (live: Live, of: Run): Promise<Given> =>
  withRetries(
    (n) => (of.query.conversation === undefined ? attempt(live, of) : talk(live, of, of.query.conversation, n)),
    {
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
    },
  );

const attempt = async (live: Live, of: Run): Promise<Given> => ({ output: await runOne(live, of, live.runner.run) });

/** A whole conversation: an agent that lost one of its turns is talked to from the beginning. */
async function talk(live: Live, of: Run, plan: ConversationPlan, n: number): Promise<Given> {
  const { converse } = await import('./converse.ts');
  const { runner } = live;
  const session = runner.open === undefined ? { run: runner.run, close: async () => {} } : await runner.open();
  const { query, run } = of;
  try {
    const id = `${query.id}.${run}.${sha256Hex(`${live.token} ${caseKey(query)} ${run} ${n}`).slice(0, ID_LENGTH)}`;
    const runTurn = (turn: TurnRequest): Promise<RunOutput> => runOne(live, of, session.run, turn);
    const { users } = live;
    const play: Talk['play'] =
      plan.user === undefined || users === undefined
        ? undefined
        : (history) => users.next(plan.user!, { history, start: query.query, run, tape: tapeOf(live, of) });
    return { trace: await converse({ query, plan, id, runTurn, ...(play === undefined ? {} : { play }) }) };
  } finally {
    await session.close();
  }
}

const ID_LENGTH = 8;

/** Where the user's words are kept, with the agent's calls. */
const tapeOf = ({ cassettes }: Live, of: Run): UserTapeAccess | undefined =>
  cassettes && {
    take: (key, said) => cassettes.takeUserWords(aboutOf(of), key, said),
    keep: (words) => cassettes.keepUserWords(aboutOf(of), words),
  };

async function runOne(
  { timeoutMs, interrupt, cassettes }: Live,
  { query, run }: Run,
  ask: Runner['run'],
  turn?: TurnRequest,
): Promise<RunOutput> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort('timeout'), timeoutMs);
  const onInterrupt = () => controller.abort('interrupt');
  interrupt.addEventListener('abort', onInterrupt, { once: true });
  try {
    return await ask({
      query: query.query,
      id: query.id,
      run,
      signal: controller.signal,
      ...(query.metadata ? { metadata: query.metadata } : {}),
      vars: query.vars,
      cell: query.cell,
      ...(turn === undefined ? {} : { turn }),
    });
  } catch (error) {
    const stderr = error instanceof AgentError ? error.stderr : undefined;
    // What a cassette lacks it will lack the next time too.
    if (cassettes?.hasMissed(aboutOf({ query, run })) === true && error instanceof AgentError)
      throw new AgentError('agent', error.message, { stderr });
    if (controller.signal.reason === 'timeout' && !(error instanceof AgentError && error.explainsTimeout))
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
async function settleRun(live: Live, of: Run, given: Given): Promise<void> {
  const { ledger, evaluate } = live;
  const { query, run } = of;
  let trace: Trace;
  try {
    trace = withSecretWarning(await traceOf(given, query));
  } catch (error) {
    refuse(live, of, error);
    return;
  }
  const played = live.cassettes?.finish(aboutOf(of));
  if (played !== undefined) trace = playedTrace(trace, played);
  if (played?.error !== undefined) {
    ledger.add(query, run, playedResult(query, played), trace);
    return;
  }
  // First the agent's cost: what is left of --max-cost is what the judge may use. Answers from a cassette cost nothing.
  if (played === undefined || spendsMoney(played.use)) ledger.spend(knownCost(trace), isCostKnown(trace));
  const result = await evaluate(query, trace);
  ledger.add(query, run, played === undefined ? result : keptResult(query, played, result), trace);
}

/** A fault of the agent is the run's result; any other is ours. */
function refuse({ interrupt, ledger, retries, cassettes }: Live, of: Run, error: unknown): void {
  if (!(error instanceof AgentError)) throw error;
  const { query, run } = of;
  const played = cassettes?.abandon(aboutOf(of));
  // What was running when the user stopped the run is not done: it stays open for --resume.
  if (interrupt.aborted) return;
  const found = describeError(error, retries);
  const result =
    played === undefined
      ? isTurnError(error)
        ? unfinished(query, found, error)
        : errorResult(query, found)
      : playedResult(query, played.error === undefined ? { ...played, error: found } : played);
  ledger.add(
    query,
    run,
    error.stderr && result.error ? { ...result, error: { ...result.error, stderr: error.stderr } } : result,
  );
}

const aboutOf = ({ query, run }: Run): RunAbout => ({ id: query.id, run, cell: query.cell });

/** The cassettes of the run, where spec or command line want them. Their code is loaded only then. */
async function openCassettes(options: RunOptions, config: LiveRunner): Promise<Cassettes | undefined> {
  const { suite, cassette: choice, env = {}, now = Date.now } = options;
  if (suite.cassette === undefined && choice === undefined) return undefined;
  const { planCassettes, recordCommand, refuseTwins } = await import('./cassette-choice.ts');
  const plan = planCassettes({ choice, config: suite.cassette, specDir: suite.dir, env });
  if (plan === undefined) return undefined;
  if (typeof config === 'function' || (config.kind !== 'command' && config.kind !== 'module'))
    throw new UserError(
      'CASSETTE_RUNNER',
      `cassettes need an agent that is started here, and the runner is ${typeof config === 'function' ? 'a function' : `"${config.kind}"`}`,
      { hint: 'Use a "command" or "module" runner, or --cassette off.' },
    );
  refuseTwins(suite.queries.map(({ id }) => id));
  const { Cassettes } = await import('./cassettes.ts');
  const { file } = suite;
  const { runs } = options;
  return new Cassettes(plan, {
    agent: suite.agent,
    now,
    recordCommand: (about) => recordCommand({ file, runs, choice }, about),
  });
}

/** Told by what it has, since its class is loaded with the first conversation. */
const isTurnError = (error: AgentError): error is TurnError => 'unanswered' in error;

function describeError(error: AgentError, retries: number): NonNullable<QueryResult['error']> {
  const tries = retries === 0 ? '' : ` (after ${retries + 1} tries)`;
  return {
    kind: error.kind,
    message: error.kind === 'infra' ? `[INFRA] ${error.message}${tries}` : error.message,
    ...(error.stderr ? { stderr: error.stderr } : {}),
  };
}
