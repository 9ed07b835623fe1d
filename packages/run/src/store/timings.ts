import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@agentci/lib/data';
import { writeFileAtomic } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';

const TIMINGS_SCHEMA = 'agentci.timings/1';

/** The path of the timings of the specs in a folder. */
export const timingsPath = (folder: string): string => join(folder, '.agentci', 'timings.json');

interface Timings {
  readonly ms: ReadonlyMap<string, number>;
  /** The CI run that wrote them. */
  readonly by?: string | undefined;
  /** The timings before that run. */
  readonly before: ReadonlyMap<string, number>;
}

/**
 * Duration of one run of each query in milliseconds, by id. A restarted job of a CI run gets the
 * timings of its first attempt, although the same run has written others since, so that it plans
 * the same shard as the other jobs. An unreadable file is an error, because this shard would plan
 * differently from those that can read it.
 */
export function readTimings(path: string, ciRun?: string): ReadonlyMap<string, number> {
  const { ms, by, before } = readFile(path);
  return by !== undefined && by === ciRun ? before : ms;
}

function readFile(path: string): Timings {
  if (!existsSync(path)) return { ms: new Map(), before: new Map() };
  let file: unknown;
  try {
    file = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw unreadable(path, (error as Error).message);
  }
  if (!isObject(file) || file.schema !== TIMINGS_SCHEMA || !isObject(file.ms))
    throw unreadable(path, `it is not an ${TIMINGS_SCHEMA} file`);
  const ms = numbersIn(file.ms, path);
  if (typeof file.by !== 'string' || !isObject(file.before)) return { ms, before: ms };
  // Stores only the earlier values that differ, null for a new id.
  const isNew = (id: string): boolean => (file.before as Record<string, unknown>)[id] === null;
  const changed = Object.fromEntries(
    Object.entries(file.before).filter(([, value]) => value !== null),
  );
  const before = new Map([...ms, ...numbersIn(changed, path)].filter(([id]) => !isNew(id)));
  return { ms, by: file.by, before };
}

function numbersIn(given: Readonly<Record<string, unknown>>, path: string): Map<string, number> {
  const timings = Object.entries(given);
  const wrong = timings.find(([, ms]) => typeof ms !== 'number' || !Number.isFinite(ms) || ms < 0);
  if (wrong !== undefined)
    throw unreadable(path, `the timing of "${wrong[0]}" is not a number of milliseconds`);
  return new Map(timings as [string, number][]);
}

const unreadable = (path: string, why: string): UserError =>
  new UserError('FILE_UNREADABLE', `${path}: ${why}`, {
    hint: 'Delete the file, or let agentci merge write it again: every shard must plan from the same one.',
  });

/**
 * Queries without a new timing keep theirs. Sorted by id, so that a committed file changes only
 * where a timing did. Replaces an unreadable file, because it only holds measurements, and returns
 * the reason.
 */
export function updateTimings(
  path: string,
  fresh: ReadonlyMap<string, number>,
  ciRun?: string,
): string | undefined {
  const { found, why } = readOrForget(path);
  const ms = new Map([...found.ms, ...fresh]);
  const before = found.by === ciRun ? found.before : found.ms;
  const changed = [...ms].flatMap(([id, now]): [string, number | null][] =>
    before.get(id) === now ? [] : [[id, before.get(id) ?? null]],
  );
  const told = ciRun === undefined ? {} : { by: ciRun, before: sorted(changed) };
  writeFileAtomic(
    path,
    `${JSON.stringify({ schema: TIMINGS_SCHEMA, ms: sorted([...ms]), ...told }, null, 1)}\n`,
    {
      isSynced: false,
    },
  );
  return why;
}

function readOrForget(path: string): { readonly found: Timings; readonly why?: string } {
  try {
    return { found: readFile(path) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { found: { ms: new Map(), before: new Map() }, why: error.message };
  }
}

const sorted = <T>(entries: readonly [string, T][]): Record<string, T> =>
  Object.fromEntries([...entries].sort(([a], [b]) => Number(a > b) - Number(a < b)));
