import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@agentci/lib/data';
import { writeFileAtomic } from '@agentci/lib/files';
import { historyRoot } from '@agentci/run';

const pathIn = (folder: string): string => join(historyRoot(folder), 'told.json');

/**
 * The last verdict on the suite sent to a channel. The history does not have it: some runs are not
 * sent, and messages may get lost.
 */
export function lastNotified(folder: string, key: string): string | undefined {
  const told = readAll(folder)[key];
  return typeof told === 'string' ? told : undefined;
}

/** Stores the verdict sent to a channel. */
export function saveLastNotified(folder: string, key: string, verdict: string): void {
  const all = readAll(folder);
  if (all[key] === verdict) return;
  try {
    writeFileAtomic(pathIn(folder), `${JSON.stringify({ ...all, [key]: verdict })}\n`, {
      isSynced: false,
    });
  } catch {
    // A read-only folder keeps no history either.
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
