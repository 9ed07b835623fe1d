import { placeAmong, placeOf, runsAhead, runTime } from '@agentci/results';
import type { JournalHeader } from '@agentci/run';
import { historyRoot, seenInHistory, seenInStore } from '@agentci/run';
import type { Io } from '../cli/io.ts';
import { runsRoot } from './spec-folders.ts';

/** The position of a new run among the existing ones. */
export interface RunPlace {
  /** Absent if it equals the start time. */
  readonly order?: string;
  /** Runs dated in the future, reported for the first time. */
  readonly ahead: readonly string[];
}

interface PlaceInput {
  /** The run itself, if it is written again. */
  readonly id?: string;
  /** Start time. */
  readonly at: string;
  /** Runs from elsewhere that precede it. */
  readonly after?: readonly Pick<JournalHeader, 'run_id' | 'started_at' | 'order'>[];
  readonly io: Pick<Io, 'now'>;
}

/** Reads the runs next to a spec, both stored and only in the history. */
export function placeOfRun(folder: string, { id, at, after = [], io }: PlaceInput): RunPlace {
  try {
    const past = seenInHistory(historyRoot(folder));
    const stored = seenInStore(runsRoot(folder), new Set(past.map((run) => run.id)));
    const others = after.map(({ run_id, started_at, order }) => ({
      id: run_id,
      place: placeOf({ at: started_at, order }),
      time: runTime(started_at),
    }));
    const seen = [...past, ...stored, ...others].filter((run) => run.id !== id);
    const [time, now] = [runTime(at), runTime(new Date(io.now()).toISOString())];
    const place = placeAmong(seen, { time, now });
    return { order: place !== time ? place : undefined, ahead: runsAhead(seen, now) };
  } catch {
    // An unreadable folder does not stop a run. Commands that need it report the error.
    return { ahead: [] };
  }
}
