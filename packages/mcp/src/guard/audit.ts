import { closeSync, fstatSync, readFileSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { sha256Hex } from '@agentci/lib/data';
import { makeFolder, openFile } from '@agentci/lib/files';
import { systemErrorText, UserError } from '@agentci/lib/problems';
import { type AuditLine, NO_HASH } from '@agentci/results';

/** An audit entry without the fields that the log adds. */
export type AuditEntry = AuditLine extends infer Line
  ? Line extends AuditLine
    ? Omit<Line, 'ts' | 'seq' | 'prev' | 'sum'>
    : never
  : never;

/** Log of decisions. Throws if an entry could not be written. */
export interface Audit {
  readonly add: (entry: AuditEntry) => void;
  readonly close: () => void;
}

export const NO_AUDIT: Audit = { add: () => {}, close: () => {} };

/** The next line of a hash chain. Pure, because the time is an argument. */
export function chainLine(
  entry: AuditEntry,
  chain: { readonly seq: number; readonly prev: string },
  ts: string,
): string {
  const line = JSON.stringify({ ts, seq: chain.seq, prev: chain.prev, ...entry });
  // The last line has no successor with its hash, so it contains its own.
  return entry.event === 'end' ? `${line.slice(0, -1)},"sum":"${sha256Hex(line)}"}` : line;
}

const MAX_LINE = 70 * 1024 * 1024;

/** Opens a log, or continues it after its last line. Only one guard at a time may write. */
export function openAudit(path: string, now: () => number): Audit {
  const lock = `${path}.lock`;
  try {
    makeFolder(dirname(path));
    takeLock(lock, path);
    const file = openFile(path, 'a+', 0o600);
    let chain = lastOf(file, path);
    let { size } = fstatSync(file);
    const { ino, dev } = fstatSync(file);
    let isBroken = false;
    const assertThere = (): void => {
      const found = statSync(path, { throwIfNoEntry: false });
      if (found === undefined || found.ino !== ino || found.dev !== dev)
        throw new Error('the file is no longer there');
      if (found.size !== size) throw new Error('the file was changed by another program');
    };
    return {
      add: (entry) => {
        if (isBroken) throw new UserError('GUARD_AUDIT', `"${path}" could not be written`);
        const line = chainLine(entry, chain, new Date(now()).toISOString());
        const bytes = Buffer.from(`${line}\n`);
        try {
          assertThere();
          // A partial line would break the chain for all later lines.
          if (writeSync(file, bytes) !== bytes.length)
            throw new Error('not all of a line was written');
        } catch (error) {
          isBroken = true;
          throw error;
        }
        chain = { seq: chain.seq + 1, prev: sha256Hex(line) };
        size += bytes.length;
      },
      close: () => {
        closeSync(file);
        rmSync(lock, { force: true });
      },
    };
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      'GUARD_AUDIT',
      `"${path}" cannot be written: ${systemErrorText(error) ?? (error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}

/** A client that restarts its server gives the old guard some seconds to exit. */
const LOCK_WAIT_MS = 4000;
const LOCK_POLL_MS = 50;

/** The lock contains a process id. It is stale if that process does not exist. */
function takeLock(lock: string, path: string): void {
  for (let waited = 0; ; waited += LOCK_POLL_MS) {
    try {
      const file = openFile(lock, 'wx', 0o600);
      writeSync(file, String(process.pid));
      closeSync(file);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = Number(readFileSync(lock, { encoding: 'utf8', flag: 'a+' }));
    if (owner !== 0 && !isRunning(owner)) rmSync(lock, { force: true });
    else if (waited >= LOCK_WAIT_MS)
      throw new UserError('GUARD_AUDIT', `another guard (process ${owner}) writes to "${path}"`, {
        hint: 'give each guard a separate audit file',
      });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
  }
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The end of an existing chain. Other files are not modified. */
function lastOf(file: number, path: string): { seq: number; prev: string } {
  const { size } = fstatSync(file);
  if (size === 0) return { seq: 1, prev: NO_HASH };
  const tail = Buffer.alloc(Math.min(size, MAX_LINE));
  readSync(file, tail, 0, tail.length, size - tail.length);
  const end = tail.at(-1) === 10 ? tail.length - 1 : tail.length;
  const line = tail.subarray(tail.lastIndexOf(10, end - 1) + 1, end).toString('utf8');
  try {
    const { seq } = JSON.parse(line) as { seq?: unknown };
    if (tail.at(-1) === 10 && Number.isInteger(seq))
      return { seq: (seq as number) + 1, prev: sha256Hex(line) };
  } catch {
    // Reported below.
  }
  throw new UserError('GUARD_AUDIT', `the last line of "${path}" is not a whole line of an audit`, {
    hint: 'move the file away to start a new one',
  });
}
