import type { Cassette, MatchRules } from '@agentci/capture';
import { type CassetteHeader, provenText, readHeader } from '@agentci/capture';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import type { TraceWarning } from '@agentci/results';
import { readCassetteHead, writeCassetteFile } from '../store/cassette-files.ts';

/** The file of a recording. */
export interface RecordingPlace {
  readonly dir: string;
  readonly path: string;
  /** The name in messages. */
  readonly shown: string;
}

/** A verified recording that is not yet written. */
export interface Recording {
  /** Number of calls that are new in it. */
  readonly calls: number;
  /** Number of calls in the existing recording. Undefined if there is none, or it is unreadable. */
  readonly earlier: number | undefined;
  /**
   * Writes it, unless an earlier recording would be lost and the run failed or made no call.
   * Returns the warning in that case.
   */
  readonly write: (wentWell: boolean) => TraceWarning | undefined;
  /** Restores the previous content of the file. */
  readonly takeBack: () => void;
}

/** Verifies that a recording can be replayed. Throws a `UserError` if not. */
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
      // Adding to a recording loses nothing.
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

/** The header of the existing recording of the same run. */
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
