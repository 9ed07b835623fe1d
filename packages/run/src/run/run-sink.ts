import type { QueryResult } from '@agentci/results';
import type { Trace } from '@agentci/trace';
import type { JournalEntry } from '../store/journal.ts';
import type { RunEvent } from './run-event.ts';
import type { RunParts } from './run-parts.ts';

/**
 * Receives the results of a run. The program's store is one. A caller of the library may pass
 * another.
 */
export interface RunSink {
  /** Stores a finished run of a case. An error ends the whole run. */
  readonly record?: (entry: JournalEntry, trace: Trace | undefined) => void;
  /**
   * Returns the result to hold in memory. In a large run it is one that is read from disk on
   * demand.
   */
  readonly keep?: (result: QueryResult) => QueryResult;
  /** Registers the run before others start to work for it, so that it can be resumed. */
  readonly begin?: () => void;
  /** Resolves when everything recorded so far is on disk. */
  readonly sync?: () => Promise<void>;
  /** Receives progress events. */
  readonly event?: (event: RunEvent) => void;
  /** Receives the facts about the whole run before checks over it are decided. */
  readonly parts?: (parts: RunParts) => void;
}
