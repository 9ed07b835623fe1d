import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyRoot } from '../../history/history-files.ts';
import { isObject } from '../../kit/object.ts';
import { writeFileAtomic } from '../../store/atomic-write.ts';

const pathIn = (folder: string): string => join(historyRoot(folder), 'undelivered.json');

/**
 * The verdict that the readers of a channel were last told, where the message about a later one did not reach them. Without
 * it the next run would see no change, and the change would never be announced.
 */
export function lastTold(folder: string, key: string): string | undefined {
  const told = readAll(folder)[key];
  return typeof told === 'string' ? told : undefined;
}

/** Notes what the readers of a channel were last told; undefined once they are up to date. */
export function keepLastTold(folder: string, key: string, verdict: string | undefined): void {
  const { [key]: before, ...others } = readAll(folder);
  if (before === verdict) return;
  const all = verdict === undefined ? others : { ...others, [key]: verdict };
  try {
    writeFileAtomic(pathIn(folder), `${JSON.stringify(all)}\n`, { isSynced: false });
  } catch {
    // A folder that cannot be written to keeps no history either.
  }
}

function readAll(folder: string): Readonly<Record<string, unknown>> {
  try {
    const path = pathIn(folder);
    const found: unknown = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
    return isObject(found) ? found : {};
  } catch {
    return {};
  }
}
