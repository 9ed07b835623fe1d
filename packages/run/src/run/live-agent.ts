import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Budget } from '@agentci/judge';
import { sha256Hex } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { SECRETS } from '@agentci/lib/secrets';
import type { CassetteUse, QueryError, QueryResult, RunResult } from '@agentci/results';
import { caseKey } from '@agentci/results';
import type { ConversationPlan, Query, StatePlan } from '@agentci/spec';
import { type MetricRequest, metricRequests } from '@agentci/spec';
import { seededRandom } from '@agentci/stats';
import type { Trace } from '@agentci/trace';
import { createRunner } from '../runners/create-runner.ts';
import {
  AgentError,
  type RunAbout,
  type Runner,
  type RunnerEnvironment,
  type RunOutput,
  type TurnRequest,
} from '../runners/runner.ts';
import type { Cassettes, Played } from './cassettes.ts';
import { errorResult } from './combine-runs.ts';
import type { Talk, TurnError } from './converse.ts';
import { unfinished } from './evaluate-conversation.ts';
import { createFunctionRunner } from './function-runner.ts';
import { interpretOutput, type OtherQueries } from './interpret-output.ts';
import type { UserModels, UserTapeAccess } from './model-user.ts';
import { playedResult, playedTrace } from './replayed-result.ts';
import { withRetries } from './retry.ts';
import type { LiveRunner, RunOptions } from './run-options.ts';
import { withSecretWarning } from './secret-warning.ts';
import { watchAgent } from './watch-agent.ts';

const DEFAULT_TIMEOUT_MS = 120_000;
const DEFAULT_RETRIES = 2;

/** One run of one query. */
export interface Run {
  readonly query: Query;
  readonly run: number;
}

/** The output of an agent, or a finished trace. */
type Given = { readonly output: RunOutput } | { readonly trace: Trace };

/**
 * The outcome of a run before its verdict: a trace to judge, or a result if there is nothing to
 * judge.
 */
export type Outcome =
  | { readonly kind: 'judge'; readonly trace: Trace; readonly played?: Played }
  | { readonly kind: 'failed'; readonly result: QueryResult; readonly trace?: Trace };

/** A problem found after the verdict on a run. */
export interface VoidRun {
  readonly about: RunAbout;
  readonly error: QueryError;
  /** For a run with a cassette. */
  readonly use?: CassetteUse;
}

interface Live {
  readonly options: RunOptions;
  readonly runner: Runner;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly interrupt: AbortSignal;
  /** Aborts each running agent. One listener serves all of them. */
  readonly running: Set<AbortController>;
  readonly random: () => number;
  /** Makes conversation ids unique across runs, because an agent may remember them. */
  readonly token: string;
  /** Models that simulate users. Absent if no query needs one. */
  readonly users: UserModels | undefined;
  readonly cassettes: Cassettes | undefined;
  readonly others: OtherQueries;
}

/**
 * The running agent of a suite: its runner, capture, cassettes, and the models that simulate its
 * users.
 */
export interface LiveAgent {
  /** Runs the agent and reads its output. Undefined if the user stopped the run. */
  readonly run: (of: Run) => Promise<Outcome | undefined>;
  /** Usage of the models that simulate users. Undefined if there are none. */
  readonly usage: () => RunResult['user'];
  /** Prepares the next run, if a start takes time. */
  readonly warm: () => Promise<void>;
  /** Ends it, and lists the verdicts that no longer hold. */
  readonly close: () => Promise<readonly VoidRun[]>;
}

/** Starts everything that the suite's agent needs. */
export async function openLiveAgent({
  options,
  config,
  workers,
  budget,
  runs,
}: {
  readonly options: RunOptions;
  readonly config: LiveRunner;
  readonly workers: number;
  /** Budget of the models that simulate users. */
  readonly budget: Budget;
  /** The pending runs. */
  readonly runs: readonly RunAbout[];
}): Promise<LiveAgent> {
  const settings: { timeoutMs?: number; retries?: number } =
    typeof config === 'function' ? {} : config;
  const timeoutMs = options.timeoutMs ?? settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const interrupt = options.signal ?? new AbortController().signal;
  // One listener for each query that waits for a retry. Many workers are not a leak.
  setMaxListeners(0, interrupt);
  const running = new Set<AbortController>();
  const endAll = (): void => {
    for (const controller of running) controller.abort('interrupt');
  };
  interrupt.addEventListener('abort', endAll, { once: true });
  const cassettes = await openCassettes(options, config);
  const voids: VoidRun[] = [];
  const onVoid: RunnerEnvironment['onVoid'] = (about, message) =>
    voids.push({ about, error: { kind: 'agent', message } });
  const agent = await openAgent(config, { options, timeoutMs, workers, cassettes, runs, onVoid });
  const live: Live = {
    options,
    runner: agent.runner,
    timeoutMs,
    retries: options.retries ?? settings.retries ?? DEFAULT_RETRIES,
    interrupt,
    running,
    random: seededRandom(options.seed ?? 0),
    token: randomUUID(),
    users: await openUsers(options, budget),
    cassettes,
    others: othersOf(options.suite.queries),
  };
  return {
    run: (of) => runOnce(live, of),
    usage: () => live.users?.usage(),
    warm: async () => agent.runner.warm?.(),
    close: async () => {
      await cassettes?.settle();
      await agent.close();
      interrupt.removeEventListener('abort', endAll);
      voids.push(...(cassettes?.takeBack() ?? []));
      return voids;
    },
  };
}

const openUsers = async (options: RunOptions, budget: Budget): Promise<UserModels | undefined> =>
  options.suite.queries.some(({ conversation }) => conversation?.user !== undefined)
    ? new (await import('./model-user.ts')).UserModels(options, budget)
    : undefined;

const othersOf = (queries: readonly Query[]): OtherQueries => ({
  ids: new Set(queries.map(({ id }) => id)),
  texts: new Set(queries.map(({ query }) => query)),
});

interface OpenAgent {
  readonly runner: Runner;
  readonly close: () => Promise<void>;
}

/** Opens the runner and the capture of its processes. */
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
  const onNote: Parameters<typeof watchAgent>[1]['onNote'] = (note) => options.sink?.event?.(note);
  const watch = await watchAgent(config, { ...around, onNote, cassettes, runs });
  const watchResources = options.suite.queries.some(({ metrics }) =>
    metricRequests(metrics).some(readsResources),
  );
  const environment = {
    ...around,
    watch,
    timeoutMs,
    workers,
    watchResources,
    onVoid,
  };
  const runner = await createRunner(config, environment).catch(async (error) => {
    await watch?.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    await runner.close();
    await watch?.close();
  };
  return { runner, close };
}

const RESOURCE_METRICS = new Set([
  'energy_consumption',
  'carbon_emissions',
  'resource_utilization',
]);

/**
 * Watching a process has a cost and makes its traces longer, so it is done only if a check reads
 * it.
 */
const readsResources = ({ name }: MetricRequest): boolean => RESOURCE_METRICS.has(name);

async function runOnce(live: Live, of: Run): Promise<Outcome | undefined> {
  live.options.sink?.event?.({
    type: 'run_started',
    id: of.query.id,
    cell: of.query.cell,
    run: of.run,
  });
  const unprepared = live.cassettes?.prepare(aboutOf(of));
  if (unprepared !== undefined)
    return { kind: 'failed', result: playedResult(of.query, unprepared) };
  try {
    const { state } = of.query;
    const given = await runWithRetries(live, of);
    // Read directly after the run, because the next run may change it.
    const ended = state === undefined ? given : await withEndState(live, of, state, given);
    return await readRun(live, of, ended);
  } catch (error) {
    return refuse(live, of, error);
  }
}

const traceOf = async (live: Live, given: Given, query: Query): Promise<Trace> =>
  'trace' in given ? given.trace : interpretOutput(given.output, { ...query, others: live.others });

async function withEndState(
  live: Live,
  { query, run }: Run,
  state: StatePlan,
  given: Given,
): Promise<Given> {
  const { options, interrupt } = live;
  const { readEndState } = await import('./read-end-state.ts');
  const around = { dir: options.suite.dir, env: options.env ?? {}, run, interrupt };
  return { trace: await readEndState(query, state, await traceOf(live, given, query), around) };
}

const runWithRetries = (live: Live, of: Run): Promise<Given> =>
  withRetries(
    (n) =>
      of.query.conversation === undefined
        ? attempt(live, of)
        : talk(live, of, of.query.conversation, n),
    {
      retries: live.retries,
      signal: live.interrupt,
      random: live.random,
      onRetry: (n, error, delayMs) =>
        live.options.sink?.event?.({
          type: 'retrying',
          id: of.query.id,
          cell: of.query.cell,
          attempt: n,
          message: SECRETS.text(error.message),
          delayMs,
        }),
    },
  );

const attempt = async (live: Live, of: Run): Promise<Given> => ({
  output: await runOne(live, of, live.runner.run),
});

/** Holds a whole conversation. After a failed turn it starts from the beginning. */
async function talk(live: Live, of: Run, plan: ConversationPlan, n: number): Promise<Given> {
  const { converse } = await import('./converse.ts');
  const { runner } = live;
  const session =
    runner.open === undefined ? { run: runner.run, close: async () => {} } : await runner.open();
  const { query, run } = of;
  try {
    const id = `${query.id}.${run}.${sha256Hex(`${live.token} ${caseKey(query)} ${run} ${n}`).slice(0, ID_LENGTH)}`;
    const runTurn = (turn: TurnRequest): Promise<RunOutput> => runOne(live, of, session.run, turn);
    const { users } = live;
    const play: Talk['play'] =
      plan.user === undefined || users === undefined
        ? undefined
        : (history) =>
            users.next(plan.user!, { history, start: query.query, run, tape: tapeOf(live, of) });
    return {
      trace: await converse({ query, plan, id, runTurn, play }),
    };
  } finally {
    await session.close();
  }
}

const ID_LENGTH = 8;

/** The cassette part for the user's messages, stored with the agent's calls. */
const tapeOf = ({ cassettes }: Live, of: Run): UserTapeAccess | undefined =>
  cassettes && {
    take: (key, said) => cassettes.takeUserWords(aboutOf(of), key, said),
    keep: (words) => cassettes.keepUserWords(aboutOf(of), words),
  };

async function runOne(
  { timeoutMs, running, cassettes }: Live,
  { query, run }: Run,
  ask: Runner['run'],
  turn?: TurnRequest,
): Promise<RunOutput> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort('timeout'), timeoutMs);
  running.add(controller);
  try {
    return await ask({
      query: query.query,
      id: query.id,
      run,
      signal: controller.signal,
      metadata: query.metadata,
      vars: query.vars,
      cell: query.cell,
      turn,
    });
  } catch (error) {
    const stderr = error instanceof AgentError ? error.stderr : undefined;
    // A retry would miss the same answer in the cassette.
    if (cassettes?.hasMissed(aboutOf({ query, run })) === true && error instanceof AgentError)
      throw new AgentError('agent', error.message, { stderr });
    if (
      controller.signal.reason === 'timeout' &&
      !(error instanceof AgentError && error.explainsTimeout)
    )
      throw new AgentError('infra', `no answer within ${timeoutMs} ms`, {
        stderr,
        isTimeout: true,
      });
    throw error;
  } finally {
    clearTimeout(timer);
    running.delete(controller);
  }
}

/** Reads the output of the agent. Undefined if the user stopped the run. */
async function readRun(live: Live, of: Run, given: Given): Promise<Outcome | undefined> {
  let trace: Trace;
  try {
    trace = withSecretWarning(await traceOf(live, given, of.query));
  } catch (error) {
    return refuse(live, of, error);
  }
  const played = live.cassettes?.finish(aboutOf(of));
  if (played === undefined) return { kind: 'judge', trace };
  const told = playedTrace(trace, played);
  if (played.error !== undefined)
    return { kind: 'failed', result: playedResult(of.query, played), trace: told };
  return { kind: 'judge', trace: told, played };
}

/** A fault of the agent is the result of the run. Any other fault is a bug of ours. */
function refuse(
  { interrupt, retries, cassettes }: Live,
  of: Run,
  error: unknown,
): Outcome | undefined {
  if (!(error instanceof AgentError)) throw error;
  const { query } = of;
  const played = cassettes?.abandon(aboutOf(of));
  // A run that the user interrupted is unfinished and stays open for --resume.
  if (interrupt.aborted) return undefined;
  const found = describeError(error, retries);
  let result: QueryResult;
  if (played === undefined)
    result = isTurnError(error) ? unfinished(query, found, error) : errorResult(query, found);
  else
    result = playedResult(query, played.error === undefined ? { ...played, error: found } : played);
  return {
    kind: 'failed',
    result:
      error.stderr && result.error
        ? { ...result, error: { ...result.error, stderr: error.stderr } }
        : result,
  };
}

export const aboutOf = ({ query, run }: Run): RunAbout => ({ id: query.id, run, cell: query.cell });

/** Checks the fields, because the class is loaded only with the first conversation. */
const isTurnError = (error: AgentError): error is TurnError => 'unanswered' in error;

function describeError(error: AgentError, retries: number): NonNullable<QueryResult['error']> {
  const tries = retries === 0 ? '' : ` (after ${retries + 1} tries)`;
  return {
    kind: error.kind,
    message: error.kind === 'infra' ? `[INFRA] ${error.message}${tries}` : error.message,
    stderr: error.stderr || undefined,
  };
}

/**
 * The cassettes of the run, if the spec or the command line uses them. Loads their code only then.
 */
export async function openCassettes(
  options: RunOptions,
  config: LiveRunner,
): Promise<Cassettes | undefined> {
  const { suite, cassette: choice, env = {}, now = Date.now } = options;
  if (suite.cassette === undefined && choice === undefined) return undefined;
  const { planCassettes, recordCommand, refuseTwins } = await import('./cassette-choice.ts');
  const plan = planCassettes({ choice, config: suite.cassette, specDir: suite.dir, env });
  if (plan === undefined) return undefined;
  if (typeof config === 'function' || (config.kind !== 'command' && config.kind !== 'module'))
    throw new UserError(
      'SPEC_VALUE',
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
