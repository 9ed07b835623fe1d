import { limitedBudget } from '@agentci/judge';
import { UserError } from '@agentci/lib/problems';
import { SECRETS, secretsIn } from '@agentci/lib/secrets';
import { caseKey, caseText } from '@agentci/results';
import type { Query, Suite } from '@agentci/spec';
import { parseQueueAddress } from '../queue/address.ts';
import type { QueuedRun } from '../queue/job.ts';
import {
  type RunAgent,
  runWorker,
  type WorkerOptions,
  type WorkerSummary,
} from '../queue/worker.ts';
import { spendsMoney } from './cassette-use.ts';
import { type Outcome, openLiveAgent } from './live-agent.ts';
import { addUsage, failureBody, outcomeBody } from './queued-outcome.ts';
import { runCost } from './run-cost.ts';
import type { RunEvent } from './run-event.ts';
import type { LiveRunner, RunOptions } from './run-options.ts';
import { workerHash } from './worker-hash.ts';

export interface ServeQueueOptions
  extends Omit<WorkerOptions, 'address' | 'spec' | 'slots' | 'openAgent' | 'failure'> {
  readonly suite: Suite;
  readonly address: string;
  /** Number of queries to run at once. */
  readonly workers: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Runs the agent of a suite for runs over a queue. The collector of a run judges the outcomes. */
export function serveQueue(options: ServeQueueOptions): Promise<WorkerSummary> {
  const { suite, env, address, workers, ...rest } = options;
  SECRETS.add(secretsIn(env));
  const { runner } = suite;
  if (runner === undefined || runner.kind === 'replay')
    throw new UserError(
      'NO_RUNNER',
      `${suite.file} has no runner that could be started, so a worker has nothing to run`,
      { hint: 'Add one to the spec, e.g. `runner: {command: [python, agent.py]}`.' },
    );
  const spec = workerHash(suite);
  const queries = new Map(suite.queries.map((query) => [caseKey(query), query]));
  return runWorker({
    ...rest,
    address: parseQueueAddress(address, env),
    spec,
    slots: workers,
    openAgent: async (run, sendNote) => {
      if (workerHash(suite) !== spec)
        throw new UserError(
          'WORKER_MISMATCH',
          'a prompt has changed since this worker was started',
          { hint: 'Start the worker again.' },
        );
      return openRunAgent(options, runner, { run, queries, sendNote });
    },
    failure: (kind, message) => ({ body: failureBody(kind, SECRETS.text(message)), costUsd: 0 }),
  });
}

async function openRunAgent(
  { suite, env, workers, onNote }: ServeQueueOptions,
  config: LiveRunner,
  {
    run,
    queries,
    sendNote,
  }: {
    readonly run: QueuedRun;
    readonly queries: ReadonlyMap<string, Query>;
    readonly sendNote: (body: unknown) => void;
  },
): Promise<RunAgent> {
  const { maxCostUsd, cassette, ...settings } = run.settings;
  const event = (it: RunEvent): void => {
    if (it.type === 'note') sendNote({ code: it.code, message: SECRETS.text(it.message) });
    if (it.type === 'retrying') onNote(`${caseText(it)}: [INFRA] ${it.message}; trying again`);
  };
  const mode = cassette ?? 'off';
  const options: RunOptions = {
    ...settings,
    suite,
    env,
    runId: run.run,
    sink: { event },
    cassette: { mode },
  };
  const runs = suite.queries.map(({ id, cell }) => ({ id, cell, run: 1 }));
  const budget = limitedBudget(maxCostUsd ?? Number.POSITIVE_INFINITY);
  const agent = await openLiveAgent({ options, config, workers, budget, runs });
  let usageBefore = agent.usage();
  return {
    run: async (job) => {
      const query = queries.get(caseKey(job));
      if (query === undefined)
        throw new UserError('QUEUE_JOB', `${suite.file} has no query ${JSON.stringify(job.id)}`);
      const outcome = await agent.run({ query, run: job.repeat });
      if (outcome === undefined) throw new Error('it was interrupted');
      const usage = agent.usage();
      // Runs share the models, so only the sum is known. Each result carries the increase since the
      // last one.
      const added = usage === undefined ? undefined : addUsage(usage, usageBefore, -1);
      usageBefore = usage;
      return { body: outcomeBody(outcome, added), costUsd: await costOf(outcome) };
    },
    warm: agent.warm,
    close: async () => {
      for (const { about, error } of await agent.close())
        sendNote({ about, message: SECRETS.text(error.message) });
    },
  };
}

async function costOf(outcome: Outcome): Promise<number> {
  if (outcome.kind === 'failed') return 0;
  const isPaid = outcome.played === undefined || spendsMoney(outcome.played.use);
  return isPaid ? (await runCost(outcome.trace)).usd : 0;
}
