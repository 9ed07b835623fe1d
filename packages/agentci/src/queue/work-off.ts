import type { Job } from './job.ts';

/** What became of a job: it is over once what it came to is sent, or it is for later. */
export type Handled = { readonly sent: Promise<void> } | 'later';

export interface Handling {
  /** `isLast`: nothing is begun here before its result is sent. */
  readonly handle: (job: Job, isLast: () => boolean) => Promise<Handled>;
  /** Puts jobs that were not begun back into the queue; those that were begun stay here. */
  readonly giveBack: (rest: readonly Job[], begun: readonly Job[]) => Promise<void>;
  /** Nothing more is to be begun. */
  readonly isEnding: () => boolean;
  /** All of them may have been begun before, so they stay together. */
  readonly isAgain: boolean;
}

/** A bundle is for short jobs: after this long, others may have the rest of it. */
const SHORT_MS = 300;

/**
 * Works off a bundle, one job after the other; the next begins while the result of the one before is on its way. No job waits
 * here for a long one: what was not begun goes back to the queue.
 */
export async function workOff(
  jobs: readonly Job[],
  { handle, giveBack, isEnding, isAgain }: Handling,
): Promise<'over' | 'later'> {
  const waiting = [...jobs];
  const begun = new Set<Job>();
  let last: Promise<void> | undefined;
  let giving: Promise<void> | undefined;
  const giveRest = (): void => {
    giving = giveBack(waiting.splice(0), [...begun]);
    // Whoever waits for it sees what went wrong.
    giving.catch(() => {});
  };
  const isShared = jobs.length > 1 && !isAgain;
  const timer = isShared ? setTimeout(() => waiting.length > 0 && giveRest(), SHORT_MS) : undefined;
  try {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const current = job;
      begun.add(current);
      const handled = await handle(current, () => waiting.length === 0 || isAgain);
      // One on its way is enough: of a worker that dies it is known which jobs it may have died of.
      await last;
      if (handled === 'later') return 'later';
      last = handled.sent.then(() => void begun.delete(current));
      last.catch(() => {});
      if (isShared && waiting.length > 0 && isEnding()) giveRest();
    }
    await last;
    await giving;
    return 'over';
  } catch (error) {
    await last?.catch(() => {});
    await giving?.catch(() => {});
    // What failed fails alone.
    if (jobs.length > 1) await giveBack(waiting.splice(0), [...begun]);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Jobs of a bundle that may have been what its worker died of: the one that ran, and the one whose result was on its way. */
export const SUSPECTS = 2;
