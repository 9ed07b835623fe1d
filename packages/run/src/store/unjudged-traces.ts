import { existsSync, ftruncateSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, writeFileAtomic } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { type Cell, caseKey } from '@agentci/results';
import type { Trace } from '@agentci/trace';
import type { JournalEntry } from './journal.ts';

/** The path of a run's traces. */
export const tracesPath = (dir: string): string => join(dir, 'traces', 'traces.jsonl');

/** Deleted traces cannot be restored. Without any traces nothing is missing. */
export function restoreTraces(dir: string, entries: readonly JournalEntry[]): void {
  const isJudged = existsSync(join(dir, 'recordings.json'));
  if (!isJudged && entries.some(({ result }) => result.error === undefined)) {
    throw new UserError('RUN_DAMAGED', `${tracesPath(dir)} is missing: the stored run is damaged`, {
      hint: 'Start a new run without --resume. The verdicts so far are in results.jsonl.',
    });
  }
  makeFolder(join(dir, 'traces'));
}

/**
 * A kill between the two writes leaves a trace without its result, a power loss perhaps several.
 * Their queries run again, and duplicate traces would make the run unreadable, so they are removed.
 * Only the last ones can be affected.
 */
export function dropUnjudged(fd: number, path: string, entries: readonly JournalEntry[]): void {
  const bytes = readFileSync(path);
  const lines = bytes.toString('utf8').split('\n').filter(Boolean);
  const surplus = new Map<string | undefined, number>();
  const count = (id: string | undefined, by: number): void =>
    void surplus.set(id, (surplus.get(id) ?? 0) + by);
  for (const line of lines) count(caseOf(line), 1);
  for (const { id, result } of entries) count(caseKey({ id, cell: result.cell }), -1);
  let size = bytes.length;
  for (
    let line = lines.pop();
    line !== undefined && (surplus.get(caseOf(line)) ?? 0) > 0;
    line = lines.pop()
  ) {
    count(caseOf(line), -1);
    size -= Buffer.byteLength(line) + 1;
  }
  if (size < bytes.length) ftruncateSync(fd, size);
}

function caseOf(line: string): string | undefined {
  try {
    const { task, meta } = JSON.parse(line) as Trace;
    return task?.id === undefined
      ? undefined
      : caseKey({ id: task.id, cell: meta.cell as Cell | undefined });
  } catch {
    return undefined;
  }
}

/**
 * Removes the traces of cases whose verdict was revoked. Judged again, they would repeat the wrong
 * verdict.
 */
export function dropRevoked(path: string, revoked: ReadonlySet<string>): void {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  const kept = lines.filter((line) => !revoked.has(caseOf(line) ?? ''));
  writeFileAtomic(path, kept.map((line) => `${line}\n`).join(''));
}
