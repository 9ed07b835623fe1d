import type { GitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';

/** A run of some queries only. It is not the verdict on the suite. */
export interface RunPart {
  /** How many results the whole suite has; unknown where the spec is not read. */
  readonly total?: number;
  /** Whether the last verdict on every query is good, with those of this run. Without it, that cannot be said. */
  readonly isAllGood?: () => boolean;
}

/** What is known of a run when it is over. */
export interface Ended {
  /** The folder of the spec. */
  readonly folder: string;
  readonly git: GitState;
  /** Absent where all queries were run. */
  readonly part?: RunPart | undefined;
  /** When the agent ran, which is earlier than the run where it judges recordings, and its place among the runs. */
  readonly ran?: { readonly at: string; readonly order?: string | undefined } | undefined;
  readonly io: Io;
}
