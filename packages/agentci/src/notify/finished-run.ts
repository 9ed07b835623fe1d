import type { GitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';

/** A run of some queries only. Not a verdict on the suite. */
export interface RunPart {
  /** Number of results of the whole suite. Unknown if the spec is not read. */
  readonly total?: number;
  /** Whether the last verdict on every query is good, this run included. Unknown if absent. */
  readonly isAllGood?: () => boolean;
}

/** A finished run. */
export interface FinishedRun {
  /** The folder of the spec. */
  readonly folder: string;
  readonly git: GitState;
  /** Absent if all queries ran. */
  readonly part?: RunPart | undefined;
  /**
   * Time of the agent's run, which is earlier than this run if it judges recordings, and its order
   * among the runs.
   */
  readonly ran?: { readonly at: string; readonly order?: string | undefined } | undefined;
  readonly io: Io;
}
