import { collectLive } from './collect-live.ts';
import type { Around, Collected } from './collected.ts';
import { joinUnused } from './join-parts.ts';
import type { LiveRunner, RunOptions } from './run-options.ts';

/** Has the agent run for every pending query: here, or by the workers of a queue. A queue that the run has left is asked first. */
export async function collectFromAgent(
  options: RunOptions,
  runner: LiveRunner,
  around: Around,
): Promise<Collected> {
  const { queue, queueBefore } = options;
  const hasLeft = queueBefore !== undefined && queueBefore !== queue?.address;
  if (queue === undefined && !hasLeft)
    return {
      user: await collectLive(options, runner, around.ledger, around.evaluate),
      notices: [],
    };
  const { collectQueued, leaveQueue } = await import('./collect-queued.ts');
  const left = hasLeft ? await leaveQueue(options, runner, queueBefore, around) : undefined;
  const rest =
    queue === undefined
      ? { user: await collectLive(options, runner, around.ledger, around.evaluate), notices: [] }
      : await collectQueued(options, runner, queue, around);
  return left === undefined ? rest : joined(left, rest);
}

async function joined(a: Collected, b: Collected): Promise<Collected> {
  const { addUsage } = await import('./queued-outcome.ts');
  return {
    user: addUsage(a.user, b.user),
    unused: joinUnused([a.unused, b.unused].flatMap((each) => each ?? [])),
    notices: [...a.notices, ...b.notices],
  };
}
