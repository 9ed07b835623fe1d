import type { QueryResult } from '@agentci/results';
import type { Trace } from '@agentci/trace';
import type { JournalEntry } from '../store/journal.ts';
import type { RunEvent } from './run-event.ts';
import type { RunParts } from './run-parts.ts';

/** Where a run puts what it finds. The store of the program is one; a caller of the library may pass its own. */
export interface RunSink {
  /** Keeps a finished run of a case. An error ends the whole run. */
  readonly record?: (entry: JournalEntry, trace: Trace | undefined) => void;
  /** Gives the result to hold in memory: in a large run, one that is read from disk when it is needed. */
  readonly keep?: (result: QueryResult) => QueryResult;
  /** Makes the run known before others start to work for it: whoever resumes it must find it. */
  readonly begin?: () => void;
  /** Resolves when everything recorded so far is on disk. */
  readonly sync?: () => Promise<void>;
  /** Hears about progress. */
  readonly event?: (event: RunEvent) => void;
  /** Gets what is known about the whole run, before anything is decided over it. */
  readonly parts?: (parts: RunParts) => void;
}
