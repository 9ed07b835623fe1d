import type { QueueAddress } from './address.ts';
import type { Job, Ticket } from './job.ts';

/** What came of a job. */
export interface Done {
  readonly body: unknown;
  readonly costUsd: number;
}

/** The agent of one run, ready for its jobs. */
export interface Bench {
  /**
   * Runs a job. What came of it is read by the function that comes back, so that the next job can be started first;
   * undefined where the work was broken off, and someone else is to do it.
   */
  readonly work: (job: Job) => Promise<() => Promise<Done | undefined>>;
  /** Has an agent started, where that takes time. */
  readonly warm: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface ServeOptions {
  readonly address: QueueAddress;
  /** Hash of the spec. */
  readonly spec: string;
  readonly version: string;
  readonly commit?: string | undefined;
  readonly slots: number;
  /** A worker that is silent for this long has lost its jobs. */
  readonly lockMs: number;
  /** Ends by itself after this long without work. */
  readonly idleMs?: number | undefined;
  /** Makes the agent of a run ready. What is said goes to the collector of the run. */
  readonly open: (ticket: Ticket, say: (body: unknown) => void) => Promise<Bench>;
  /** What to say of a job that has killed worker after worker. */
  readonly giveUp: (job: Job, starts: number) => Done;
  readonly onNote: (message: string) => void;
  /** Called when work can be taken. */
  readonly onReady: () => void;
  /** Aborted when no more work is to be taken. */
  readonly signal: AbortSignal;
}
