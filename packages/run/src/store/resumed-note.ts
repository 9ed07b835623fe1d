import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@agentci/lib/data';
import { writeFileAtomic } from '@agentci/lib/files';
import { runTime } from '@agentci/results';
import type { JournalHeader } from './journal.ts';

const resumedPath = (dir: string): string => join(dir, 'resumed');

/** The position and the options of the last resume of a run. */
interface ResumedNote {
  readonly place: string;
  /** Overrides the journal's header. Absent in runs of older versions. */
  readonly startedWith?: NonNullable<JournalHeader['started_with']>;
}

/**
 * Records that a run is resumed: its position on the first line, the options on the second.
 * Separate, because the journal is append-only.
 */
export function noteResumed(
  dir: string,
  place: string,
  startedWith: JournalHeader['started_with'],
): void {
  const options = startedWith === undefined ? '' : `${JSON.stringify(startedWith)}\n`;
  writeFileAtomic(resumedPath(dir), `${place}\n${options}`);
}

/** Undefined if the run was never resumed. */
export function readResumed(dir: string): ResumedNote | undefined {
  let text: string;
  try {
    text = readFileSync(resumedPath(dir), 'utf8');
  } catch {
    return undefined;
  }
  const [first = '', options = ''] = text.split('\n');
  // Older versions wrote the time.
  const place = first.includes('T') ? runTime(first) : first;
  try {
    const startedWith: unknown = JSON.parse(options);
    if (isObject(startedWith)) return { place, startedWith };
  } catch {
    // The note of an older version has no options.
  }
  return { place };
}
