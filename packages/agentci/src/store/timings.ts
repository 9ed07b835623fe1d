import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../kit/object.ts';
import { UserError } from '../kit/user-error.ts';
import { writeFileAtomic } from './atomic-write.ts';

const TIMINGS_SCHEMA = 'agentci.timings/1';

/** Where the timings of the specs in a folder are. */
export const timingsPath = (folder: string): string => join(folder, '.agentci', 'timings.json');

/**
 * Milliseconds that a run of each query takes, by id. A file that cannot be read is an error: without it this shard would
 * plan otherwise than those that can read it.
 */
export function readTimings(path: string): Map<string, number> {
  if (!existsSync(path)) return new Map();
  let file: unknown;
  try {
    file = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw unreadable(path, (error as Error).message);
  }
  if (!isObject(file) || file.schema !== TIMINGS_SCHEMA || !isObject(file.ms))
    throw unreadable(path, `it is not a ${TIMINGS_SCHEMA} file`);
  const timings = Object.entries(file.ms);
  const wrong = timings.find(([, ms]) => typeof ms !== 'number' || !Number.isFinite(ms) || ms < 0);
  if (wrong !== undefined) throw unreadable(path, `the timing of "${wrong[0]}" is not a number of milliseconds`);
  return new Map(timings as [string, number][]);
}

const unreadable = (path: string, why: string): UserError =>
  new UserError('WEIGHTS_UNREADABLE', `${path}: ${why}`, {
    hint: 'Delete the file, or let agentci merge write it again: every shard must plan from the same one.',
  });

/** Sorted by id, so that a committed file changes only where a timing did. */
export function writeTimings(path: string, timings: ReadonlyMap<string, number>): void {
  const ms = Object.fromEntries([...timings].sort(([a], [b]) => Number(a > b) - Number(a < b)));
  writeFileAtomic(path, `${JSON.stringify({ schema: TIMINGS_SCHEMA, ms }, null, 1)}\n`, { isSynced: false });
}
