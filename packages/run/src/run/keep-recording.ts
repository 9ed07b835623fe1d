import type { Cassette, MatchRules } from '@agentci/capture';
import { type CassetteHeader, provenText, readHeader } from '@agentci/capture';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import type { TraceWarning } from '@agentci/results';
import { readCassetteHead, writeCassetteFile } from '../store/cassette-files.ts';

/** Where a recording goes. */
export interface RecordingPlace {
  readonly dir: string;
  readonly path: string;
  /** As messages name it. */
  readonly shown: string;
}

/** A recording that is proved and not written yet. */
export interface Recording {
  /** Calls that it holds and the file did not. */
  readonly calls: number;
  /** How many calls the recording that is there holds; undefined where there is none, or it cannot be read. */
  readonly earlier: number | undefined;
  /**
   * Writes it, unless there is an earlier recording to lose and the run went wrong, or made no call. Gives the
   * warning that says so, or undefined where it was written.
   */
  readonly write: (wentWell: boolean) => TraceWarning | undefined;
  /** Puts back what was there before it was written. */
  readonly takeBack: () => void;
}

/** Proves that what was recorded can be replayed. Throws a `UserError` where it cannot. */
export function proveRecording(
  cassette: Cassette,
  about: {
    readonly rules: MatchRules;
    readonly place: RecordingPlace;
    readonly calls: number;
    readonly adds: boolean;
  },
): Recording {
  const { rules, place, calls, adds } = about;
  const before = headerIn(place, cassette);
  const isEmpty = cassette.entries.length === 0;
  const earlier = before?.exchanges;
  const text = provenText(
    isEmpty && before?.noCalls ? { ...cassette, noCalls: true } : cassette,
    rules,
    place.shown,
  );
  let restore = (): void => {};
  return {
    calls,
    earlier,
    takeBack: () => restore(),
    write: (wentWell) => {
      // What is added to a recording takes nothing away from it.
      if ((isEmpty || !wentWell) && !adds && earlier !== undefined && earlier > 0)
        return {
          code: 'CASSETTE_KEPT',
          message: `${isEmpty ? 'no call of a model was seen' : 'the query did not pass'}, so the earlier recording of ${plural(earlier, 'call')} in ${place.shown} was kept and this one was not; remove the file to record this one all the same`,
        };
      restore = writeCassetteFile(place.dir, place.path, text);
      return undefined;
    },
  };
}

/** The header of the recording of the same run that is there. */
function headerIn(
  { path, shown }: RecordingPlace,
  { agent, id, run }: Cassette,
): CassetteHeader | undefined {
  try {
    const head = readCassetteHead(path);
    if (head === undefined) return undefined;
    const header = readHeader(head, shown);
    return header.agent === agent && header.id === id && header.run === run ? header : undefined;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return undefined;
  }
}
