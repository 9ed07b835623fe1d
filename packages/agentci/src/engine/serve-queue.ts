import { limitedBudget } from '../judge/budget.ts';
import { SECRETS, secretsIn } from '../kit/secrets.ts';
import { UserError } from '../kit/user-error.ts';
import { parseQueueAddress } from '../queue/address.ts';
import type { Job, Ticket } from '../queue/job.ts';
import { type Served, serveJobs } from '../queue/serve-jobs.ts';
import type { Bench, Done } from '../queue/serve-options.ts';
import { caseKey, caseText } from '../results/cell.ts';
import type { SpareThreads } from '../runners/spare-threads.ts';
import type { Query, Suite } from '../spec/suite.ts';
import { spendsMoney } from './cassette-use.ts';
import { fleetHash } from './fleet-hash.ts';
import { type Outcome, openLiveAgent } from './live-agent.ts';
import { addUsage, lostOutcome, outcomeBody } from './queued-outcome.ts';
import { runCost } from './run-cost.ts';
import type { LiveRunner, RunEvent, RunOptions } from './run-options.ts';

export interface ServeQueueOptions {
  readonly suite: Suite;
  readonly address: string;
  readonly version: string;
  /** What is checked out here. */
  readonly commit?: string | undefined;
  /** How many queries are in progress at a time. */
  readonly workers: number;
  readonly lockMs: number;
  readonly idleMs?: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when no more work is to be taken. */
  readonly signal: AbortSignal;
  readonly onNote: (message: string) => void;
  readonly onReady: () => void;
}

/** Runs the agent of a suite for whoever puts its queries into the queue. Verdicts are made where the run is collected. */
export async function serveQueue(options: ServeQueueOptions): Promise<Served> {
  const { suite, env } = options;
  SECRETS.add(secretsIn(env));
  const { runner } = suite;
  if (runner === undefined || runner.kind === 'replay')
    throw new UserError(
      'NO_RUNNER',
      `${suite.file} has no runner that could be started, so a worker has nothing to run`,
      {
        hint: 'Add one to the spec, e.g. `runner: {command: [python, agent.py]}`.',
      },
    );
  const queries = new Map(suite.queries.map((query) => [caseKey(query), query]));
  const spec = fleetHash(suite);
  const spareThreads = await sparesFor(runner, options);
  const bench = { queries, spareThreads };
  const served = serveJobs({
    address: parseQueueAddress(options.address, env),
    spec,
    version: options.version,
    commit: options.commit,
    slots: options.workers,
    lockMs: options.lockMs,
    idleMs: options.idleMs,
    signal: options.signal,
    onNote: options.onNote,
    onReady: () => {
      options.onReady();
      spareThreads?.fill();
    },
    open: async (ticket, say) => {
      if (fleetHash(suite) !== spec)
        throw new UserError(
          'WORKER_MISMATCH',
          'a prompt has changed since this worker was started',
          {
            hint: 'Start the worker again.',
          },
        );
      return openBench(options, runner, ticket, { ...bench, say });
    },
    giveUp: (job, starts) => ({
      body: outcomeBody(lostOutcome(queries.get(caseKey(job))!, starts), undefined),
      costUsd: 0,
    }),
  });
  return served.finally(() => spareThreads?.close());
}

/** More would be memory that is used by no one most of the time. */
const MAX_SPARE = 32;

/** Threads for the next run of a module: starting them takes half a second where there are many slots. Those of a watched agent are of one run. */
async function sparesFor(
  runner: NonNullable<Suite['runner']>,
  { suite, env, workers }: ServeQueueOptions,
): Promise<SpareThreads | undefined> {
  if (runner.kind !== 'module' || runner.capture !== undefined || suite.cassette !== undefined)
    return undefined;
  const [{ SpareThreads }, { startThread, threadEnv }] = await Promise.all([
    import('../runners/spare-threads.ts'),
    import('../runners/module-thread.ts'),
  ]);
  return new SpareThreads(Math.min(MAX_SPARE, workers), () => startThread(threadEnv(runner, env)));
}

/** The suite's agent, ready for the queries of one run. */
async function openBench(
  { suite, env, workers, onNote }: ServeQueueOptions,
  config: LiveRunner,
  ticket: Ticket,
  {
    queries,
    spareThreads,
    say,
  }: {
    readonly queries: ReadonlyMap<string, Query>;
    readonly spareThreads: SpareThreads | undefined;
    readonly say: (body: unknown) => void;
  },
): Promise<Bench> {
  const release = spareThreads?.hold();
  const { timeoutMs, retries, seed, maxCostUsd, cassette, judge } = ticket.settings;
  const onEvent = (event: RunEvent): void => {
    if (event.type === 'note') say({ code: event.code, message: SECRETS.text(event.message) });
    if (event.type === 'retrying')
      onNote(`${caseText(event)}: [INFRA] ${event.message}; trying again`);
  };
  const options: RunOptions = {
    suite,
    env,
    runId: ticket.run,
    onEvent,
    timeoutMs,
    retries,
    seed,
    judge,
    cassette: { mode: cassette ?? 'off' },
  };
  const runs = suite.queries.map(({ id, cell }) => ({ id, cell, run: 1 }));
  const budget = limitedBudget(maxCostUsd ?? Number.POSITIVE_INFINITY);
  const agent = await openLiveAgent({ options, config, workers, budget, runs, spareThreads }).catch(
    (error) => {
      release?.();
      throw error;
    },
  );
  let told = 0;
  const tellVoids = (voids: readonly { about: unknown; error: { message: string } }[]): void => {
    for (const { about, error } of voids.slice(told))
      say({ about, message: SECRETS.text(error.message) });
    told = voids.length;
  };
  let usageBefore = agent.usage();
  return {
    work: async (job: Job) => {
      const query = queries.get(caseKey(job));
      if (query === undefined)
        throw new UserError('QUEUE_JOB', `${suite.file} has no query ${JSON.stringify(job.id)}`);
      const read = await agent.run({ query, run: job.repeat });
      return async (): Promise<Done | undefined> => {
        const outcome = await read();
        if (outcome === undefined) return undefined;
        const usage = agent.usage();
        // What was asked since the last result: several runs share the models, and only the sum counts.
        const since = usage === undefined ? undefined : addUsage(usage, usageBefore, -1);
        usageBefore = usage;
        return { body: outcomeBody(outcome, since), costUsd: await costOf(outcome) };
      };
    },
    warm: agent.warm,
    close: async () => {
      try {
        tellVoids(await agent.close());
      } finally {
        release?.();
      }
    },
  };
}

/** What the agent has to be paid for. */
async function costOf(outcome: Outcome): Promise<number> {
  if (outcome.kind === 'failed') return 0;
  return outcome.played === undefined || spendsMoney(outcome.played.use)
    ? (await runCost(outcome.trace)).usd
    : 0;
}
