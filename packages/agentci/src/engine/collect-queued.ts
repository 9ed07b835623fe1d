import { UserError } from '../kit/user-error.ts';
import { parseQueueAddress } from '../queue/address.ts';
import type { Ticket } from '../queue/job.ts';
import { RunQueue } from '../queue/run-queue.ts';
import { planCassettes } from './cassette-choice.ts';
import type { Around, Collected } from './collected.ts';
import { fleetHash } from './fleet-hash.ts';
import { QueueCollector } from './queue-collector.ts';
import type { LiveRunner, QueueChoice, RunOptions } from './run-options.ts';

/** How long a queue is waited for that the rest of a run does not need. */
const LEAVE_MS = 10_000;

/** Has workers run the agent for every pending query, and writes each verdict down as its result comes in. */
export async function collectQueued(
  options: RunOptions,
  config: LiveRunner,
  choice: QueueChoice,
  around: Around,
): Promise<Collected> {
  const ticket = ticketOf(options, config);
  const pending = around.ledger.pending();
  if (pending.length === 0) return { user: undefined, notices: [] };
  const onNote = (message: string): void =>
    options.onEvent?.({ type: 'note', code: 'QUEUE', message });
  const queue = await RunQueue.open(parseQueueAddress(choice.address, options.env ?? {}), ticket, {
    rate: choice.rate,
    onNote,
    patienceMs: choice.timeoutMs,
    signal: options.signal,
  });
  const collector = new QueueCollector({ options, choice, queue, ticket, ...around }, pending);
  try {
    await collector.collect();
    await queue.close(around.ledger.interrupted ? 'to be resumed' : 'over');
  } catch (error) {
    await collector.abandon();
    // Whoever interrupts a run while Redis is gone gets the run as it is.
    if (!around.ledger.interrupted) throw error;
  }
  return {
    user: collector.user,
    unused: collector.unused,
    notices: collector.notices(),
  };
}

/**
 * Takes from the queue of a run what workers have finished for it, or are about to, before the rest is run in another way. Nothing more is
 * begun there. A queue that is gone is told of: the run can be finished without it.
 */
export async function leaveQueue(
  options: RunOptions,
  config: LiveRunner,
  address: string,
  around: Around,
): Promise<Collected> {
  const ticket = ticketOf(options, config);
  const pending = around.ledger.pending();
  if (pending.length === 0) return { user: undefined, notices: [] };
  const onNote = (message: string): void =>
    options.onEvent?.({ type: 'note', code: 'QUEUE', message });
  let queue: RunQueue;
  try {
    queue = await RunQueue.open(parseQueueAddress(address, options.env ?? {}), ticket, {
      onNote,
      patienceMs: LEAVE_MS,
      signal: options.signal,
    });
  } catch (error) {
    if (!(error instanceof UserError) || error.code === 'QUEUE_RUN_TAKEN') throw error;
    return {
      user: undefined,
      notices: [
        `the queue that the run was started with cannot be asked (${error.message}): what workers finished for it is run again, and what that cost is not known`,
      ],
    };
  }
  const collector = new QueueCollector(
    { options, choice: { address }, queue, ticket, ...around },
    pending,
  );
  try {
    await collector.leave();
    await queue.close(around.ledger.interrupted ? 'to be resumed' : 'given up');
  } catch (error) {
    await queue.close('to be resumed');
    if (!around.ledger.interrupted) throw error;
  }
  return {
    user: collector.user,
    unused: collector.unused,
    notices: collector.notices(),
  };
}

/** What workers must know. What only makes sense on one machine is refused here. */
function ticketOf(options: RunOptions, config: LiveRunner): Ticket {
  const { suite, runId, timeoutMs, retries, seed, maxCostUsd, judge, env = {} } = options;
  if (typeof config === 'function')
    throw new UserError(
      'QUEUE_RUNNER',
      'a function cannot be run by workers: they have the spec and nothing else',
    );
  const plan = planCassettes({
    choice: options.cassette,
    config: suite.cassette,
    specDir: suite.dir,
    env,
  });
  if (plan !== undefined && plan.mode !== 'replay')
    throw new UserError(
      'QUEUE_CASSETTE',
      'cassettes are recorded on one machine, and this run is on several',
      {
        hint: 'Record without --queue; with it, use --cassette replay or --cassette off.',
      },
    );
  return {
    run: runId ?? 'run',
    agent: suite.agent,
    spec: fleetHash(suite),
    version: options.version ?? '',
    settings: {
      timeoutMs,
      retries,
      seed,
      maxCostUsd,
      cassette: plan === undefined ? 'off' : 'replay',
      judge: typeof judge === 'string' ? judge : undefined,
    },
  };
}
