import type { Job } from './job.ts';

/** What became of a job: it is over once what it came to is sent, or it is for later. */
export type Handled = { readonly sent: Promise<void> } | 'later';

export interface Handling {
  readonly handle: (job: Job) => Promise<Handled>;
  /** Puts jobs that were not begun back into the queue; those that were begun stay here. */
  readonly giveBack: (rest: readonly Job[], begun: readonly Job[]) => Promise<void>;
  /** Nothing more is to be begun. */
  readonly isEnding: () => boolean;
}

/** A bundle is for short jobs: after this long, others may have the rest of it. */
const SHORT_MS = 300;

/**
 * Works off a bundle, one job after the other; the next begins while the result of the one before is on its way. No job waits
 * here for a long one: what was not begun goes back to the queue.
 */
export async function workOff(
  jobs: readonly Job[],
  { handle, giveBack, isEnding }: Handling,
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
  const timer = jobs.length > 1 ? setTimeout(() => waiting.length > 0 && giveRest(), SHORT_MS) : undefined;
  try {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const current = job;
      begun.add(current);
      const handled = await handle(current);
      await last;
      if (handled === 'later') return 'later';
      last = handled.sent.then(() => void begun.delete(current));
      last.catch(() => {});
      if (waiting.length > 0 && isEnding()) giveRest();
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
