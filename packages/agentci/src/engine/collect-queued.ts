import { UserError } from '../kit/user-error.ts';
import { parseQueueAddress } from '../queue/address.ts';
import type { QueuedRun } from '../queue/job.ts';
import { RunQueue } from '../queue/run-queue.ts';
import { planCassettes } from './cassette-choice.ts';
import type { Around, Collected } from './collected.ts';
import { fleetHash } from './fleet-hash.ts';
import { QueueCollector } from './queue-collector.ts';
import type { LiveRunner, QueueChoice, RunOptions } from './run-options.ts';

/** How long to wait for a queue that the rest of the run does not need. */
const LEAVE_MS = 10_000;
const NOTHING: Collected = { user: undefined, notices: [] };

/** Has workers run the agent for every pending query, and judges each result as it comes in. */
export async function collectQueued(
  options: RunOptions,
  config: LiveRunner,
  choice: QueueChoice,
  around: Around,
): Promise<Collected> {
  const run = queuedRun(options, config);
  if (around.ledger.pending().length === 0) return NOTHING;
  const queue = await openQueue(options, choice, run);
  const collector = new QueueCollector({ options, choice, queue, run, ...around });
  return finish(collector, around, () => collector.collect());
}

/**
 * Takes what workers have finished for a run, or are running, out of the queue that the run leaves. They start nothing more. If
 * that Redis is gone, a notice says so, since the run can do without it.
 */
export async function leaveQueue(
  options: RunOptions,
  config: LiveRunner,
  address: string,
  around: Around,
): Promise<Collected> {
  const run = queuedRun(options, config);
  if (around.ledger.pending().length === 0) return NOTHING;
  const choice = { address, timeoutMs: LEAVE_MS };
  const queue = await openQueue(options, choice, run).catch((error: unknown) => {
    if (!(error instanceof UserError) || error.code === 'QUEUE_RUN_TAKEN') throw error;
    return error;
  });
  if (queue instanceof UserError) {
    const notice = `the queue that the run was started with cannot be asked (${queue.message}): what workers finished for it is run again, and what that cost is not known`;
    return { ...NOTHING, notices: [notice] };
  }
  const collector = new QueueCollector({ options, choice, queue, run, ...around });
  return finish(collector, around, () => collector.leave());
}

async function finish(
  collector: QueueCollector,
  { ledger }: Around,
  collect: () => Promise<void>,
): Promise<Collected> {
  try {
    await collect();
  } catch (error) {
    await collector.abandon();
    // A run that is interrupted while Redis is gone is stored as it is.
    if (!ledger.interrupted) throw error;
  }
  return collector.collected();
}

const openQueue = (
  { env = {}, signal, onEvent }: RunOptions,
  { address, rate, timeoutMs }: QueueChoice,
  run: QueuedRun,
): Promise<RunQueue> =>
  RunQueue.open(parseQueueAddress(address, env), run, {
    rate,
    patienceMs: timeoutMs,
    signal,
    onNote: (message) => onEvent?.({ type: 'note', code: 'QUEUE', message }),
  });

/** Describes the run for workers. Refuses what only works on one machine. */
function queuedRun(options: RunOptions, config: LiveRunner): QueuedRun {
  const { suite, timeoutMs, retries, seed, maxCostUsd, judge, env = {} } = options;
  if (typeof config === 'function')
    throw new UserError(
      'QUEUE_RUNNER',
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
      'QUEUE_CASSETTE',
      'cassettes are recorded on one machine, and this run is on several',
      { hint: 'Record without --queue; with it, use --cassette replay or --cassette off.' },
    );
  return {
    run: options.runId ?? 'run',
    agent: suite.agent,
    spec: fleetHash(suite),
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
