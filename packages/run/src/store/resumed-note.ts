import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@agentci/lib/data';
import { writeFileAtomic } from '@agentci/lib/files';
import { runTime } from '@agentci/results';
import type { JournalHeader } from './journal.ts';

const resumedPath = (dir: string): string => join(dir, 'resumed');

/** The place among the runs that a run got when it was resumed last, and what it was continued with. */
interface ResumedNote {
  readonly place: string;
  /** In place of what the header of the journal says; absent in runs of older versions. */
  readonly startedWith?: NonNullable<JournalHeader['started_with']>;
}

/** Notes that a run is continued. Its place is on the first line, the options on the second: the journal is only added to. */
export function noteResumed(
  dir: string,
  place: string,
  startedWith: JournalHeader['started_with'],
): void {
  const options = startedWith === undefined ? '' : `${JSON.stringify(startedWith)}\n`;
  writeFileAtomic(resumedPath(dir), `${place}\n${options}`);
}

/** Undefined where the run was never resumed. */
export function readResumed(dir: string): ResumedNote | undefined {
  let text: string;
  try {
    text = readFileSync(resumedPath(dir), 'utf8');
  } catch {
    return undefined;
  }
  const [first = '', options = ''] = text.split('\n');
  // Older versions wrote when that was.
  const place = first.includes('T') ? runTime(first) : first;
  try {
    const startedWith: unknown = JSON.parse(options);
    if (isObject(startedWith)) return { place, startedWith };
  } catch {
    // A note of an older version has no options.
  }
  return { place };
}
