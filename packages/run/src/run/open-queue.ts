import { UserError } from '@agentci/lib/problems';
import { parseQueueAddress } from '../queue/address.ts';
import type { QueuedRun } from '../queue/job.ts';
import { RunQueue } from '../queue/run-queue.ts';
import { planCassettes } from './cassette-choice.ts';
import type { Ledger } from './ledger.ts';
import { QueueSource } from './queue-source.ts';
import type { LiveRunner, QueueChoice, RunOptions } from './run-options.ts';
import type { TraceSource } from './source.ts';
import { workerHash } from './worker-hash.ts';

/** Maximum wait for a queue that the rest of the run does not need. */
const LEAVE_MS = 10_000;

/** The workers of the selected queue. */
export async function openQueueSource(
  options: RunOptions,
  config: LiveRunner,
  choice: QueueChoice,
  ledger: Ledger,
): Promise<QueueSource> {
  const run = queuedRun(options, config);
  const queue = await openQueue(options, choice, run);
  return new QueueSource({ options, choice, queue, run, ledger });
}

/**
 * Collects finished and running jobs from the queue that the run leaves. Its workers start nothing
 * more. If that Redis is gone, a notice reports it, and the run continues without it.
 */
export async function openLeftQueue(
  options: RunOptions,
  config: LiveRunner,
  address: string,
  ledger: Ledger,
): Promise<TraceSource> {
  const run = queuedRun(options, config);
  const choice = { address, timeoutMs: LEAVE_MS };
  try {
    const queue = await openQueue(options, choice, run);
    return new QueueSource({ options, choice, queue, run, ledger, isLeft: true });
  } catch (error) {
    if (!(error instanceof UserError) || error.code === 'QUEUE_RUN_TAKEN') throw error;
    const notice = `the queue that the run was started with cannot be asked (${error.message}): what workers finished for it is run again, and what that cost is not known`;
    return nothing(notice);
  }
}

const nothing = (notice: string): TraceSource => ({
  runs: async function* () {},
  workers: 1,
  isPaid: false,
  close: async () => ({ notices: [notice] }),
});

const openQueue = (
  { env = {}, signal, sink }: RunOptions,
  { address, rate, timeoutMs }: QueueChoice,
  run: QueuedRun,
): Promise<RunQueue> =>
  RunQueue.open(parseQueueAddress(address, env), run, {
    rate,
    patienceMs: timeoutMs,
    signal,
    onNote: (message) => sink?.event?.({ type: 'note', code: 'QUEUE', message }),
  });

/** Describes the run for workers. Rejects options that work only on one machine. */
function queuedRun(options: RunOptions, config: LiveRunner): QueuedRun {
  const { suite, timeoutMs, retries, seed, maxCostUsd, judge, env = {} } = options;
  if (typeof config === 'function')
    throw new UserError(
      'OPTIONS_CONFLICT',
      'a function cannot be run by workers: they have the spec and nothing else',
    );
  const cassettes = planCassettes({
    choice: options.cassette,
    config: suite.cassette,
    specDir: suite.dir,
    env,
  });
  if (cassettes !== undefined && cassettes.mode !== 'replay')
    throw new UserError(
      'OPTIONS_CONFLICT',
      'cassettes are recorded on one machine, and this run is on several',
      { hint: 'Record without --queue. With a queue, use --cassette replay or --cassette off.' },
    );
  return {
    run: options.runId ?? 'run',
    agent: suite.agent,
    spec: workerHash(suite),
    version: options.version ?? '',
    settings: {
      timeoutMs,
      retries,
      seed,
      maxCostUsd,
      cassette: cassettes === undefined ? 'off' : 'replay',
      judge: typeof judge === 'string' ? judge : undefined,
    },
  };
}
