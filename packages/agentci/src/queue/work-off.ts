import type { Job } from './job.ts';

/** What became of a job: its slot is free, and it is over once what it came to is sent; or it is for later. */
export type Handled = { readonly ends: Promise<'sent' | 'later'> } | 'later';

export interface Handling {
  /** Waits for a free slot; gives the way to leave it. */
  readonly enter: () => Promise<() => void>;
  readonly handle: (job: Job) => Promise<Handled>;
  /** Puts jobs that were not begun back into the queue; those that were begun stay here. */
  readonly giveBack: (rest: readonly Job[], begun: readonly Job[]) => Promise<void>;
  /** Nothing more is to be begun. */
  readonly isEnding: () => boolean;
}

/** `over`: all of it has been run. `shared`: some of it went back to the queue. */
export type WorkedOff = 'over' | 'shared' | 'later';

/** A bundle is for short jobs: after this long, others may have the rest of it. */
const SHORT_MS = 300;

/**
 * Works off a bundle: its jobs begin in their order, each as soon as a slot is free, and a slot is free again while the result
 * is on its way. No job waits here for a long one: what was not begun goes back to the queue.
 */
export async function workOff(jobs: readonly Job[], handling: Handling): Promise<WorkedOff> {
  const { enter, handle, giveBack, isEnding } = handling;
  const waiting = [...jobs];
  const begun = new Set<Job>();
  const forLater: Job[] = [];
  const failures: { readonly job: Job; readonly error: unknown }[] = [];
  let running = 0;
  let giving: Promise<void> | undefined;
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const endIfIdle = (): void => {
    if (running === 0 && (waiting.length === 0 || forLater.length > 0)) end();
  };
  const giveRest = (): void => {
    if (waiting.length === 0) return;
    giving = giveBack(waiting.splice(0), [...begun]);
    // Whoever waits for it sees what went wrong.
    giving.catch(() => {});
    endIfIdle();
  };
  const run = async (job: Job, leave: () => void): Promise<void> => {
    try {
      const handled = await handle(job);
      if (handled === 'later') {
        forLater.push(job);
        return leave();
      }
      leave();
      if ((await handled.ends) === 'later') forLater.push(job);
      else begun.delete(job);
    } catch (error) {
      failures.push({ job, error });
      // What failed fails alone.
      giveRest();
      leave();
    }
  };
  const runNext = async (): Promise<void> => {
    const leave = await enter();
    // One job by itself is in the queue under its own name, and cannot be put in beside itself.
    if (isEnding() && jobs.length > 1) giveRest();
    const job = forLater.length > 0 ? undefined : waiting.shift();
    if (job === undefined) return leave();
    begun.add(job);
    running++;
    await run(job, leave);
    running--;
    endIfIdle();
  };
  const timer = jobs.length > 1 ? setTimeout(giveRest, SHORT_MS) : undefined;
  for (const _ of jobs) void runNext();
  endIfIdle();
  await ended;
  clearTimeout(timer);
  await giving;
  if (failures.length > 0) {
    const failed = failures.map(({ job }) => job);
    if (jobs.length > 1) await giveBack([...forLater, ...waiting], failed);
    throw failures[0]!.error;
  }
  if (forLater.length > 0) return 'later';
  if (giving === undefined) return 'over';
  return 'shared';
}
