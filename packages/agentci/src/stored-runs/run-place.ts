import { placeAmong, placeOf, runsAhead, runTime } from '@agentci/results';
import type { JournalHeader } from '@agentci/run';
import { historyRoot, seenInHistory, seenInStore } from '@agentci/run';
import type { Io } from '../cli/io.ts';
import { runsRoot } from './spec-folders.ts';

/** The place of a new run among those that are there. */
export interface RunPlace {
  /** Absent where it is the time of the run. */
  readonly order?: string;
  /** Runs that are dated after now, and that no run has found there before. */
  readonly ahead: readonly string[];
}

interface PlaceInput {
  /** The run itself, where it is written again. */
  readonly id?: string;
  /** When it started. */
  readonly at: string;
  /** Runs elsewhere that it comes after. */
  readonly after?: readonly Pick<JournalHeader, 'run_id' | 'started_at' | 'order'>[];
  readonly io: Pick<Io, 'now'>;
}

/** Looks at the runs beside a spec, stored ones and those that only the history knows. */
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
    // What cannot be read does not keep a run from starting; commands that need it say so.
    return { ahead: [] };
  }
}
