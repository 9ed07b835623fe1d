import {
  closeSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { openFile, writeFile } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';

/** The holder of a run. Process ids are reused. Together with the start time they are unique. */
interface Holder {
  readonly pid: number;
  /** Start time of the process in the system's format. Absent if the system does not report it. */
  readonly start?: string;
  /** Process ids of another machine or container are meaningless here. */
  readonly host: string;
  readonly since: string;
}

const NAME = /^lock\.(\d+)$/;
const HEARTBEAT_MS = 15_000;
/** A lock of another machine that was not touched for this long is stale. */
const SILENT_MS = 60_000;
/** Time to wait for the content of a lock that is being written. */
const WRITING_MS = 2000;

/**
 * Prevents two processes from working on one run. Locks are numbered, and the highest counts.
 * Taking over a stale lock means creating the next number, which only one process can do.
 */
export class RunLock {
  readonly #path: string;
  readonly #heartbeat: NodeJS.Timeout;

  private constructor(path: string) {
    this.#path = path;
    this.#heartbeat = setInterval(() => touch(path), HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  /** Takes the lock of a run's folder. Throws a `UserError` if another process holds it. */
  static take(dir: string, runId: string): RunLock {
    const started = Date.now();
    for (;;) {
      const held = locksIn(dir);
      const last = held.at(-1);
      if (
        last !== undefined &&
        Date.now() - started < WRITING_MS &&
        isWritten(join(dir, `lock.${last}`)) === false
      ) {
        pause();
        continue;
      }
      if (last !== undefined && isHeld(join(dir, `lock.${last}`)))
        throw inProgress(dir, last, runId);
      const path = join(dir, `lock.${(last ?? 0) + 1}`);
      // Another process was faster, so check again.
      if (!createWhole(path, holderNow())) continue;
      // The listing of the folder was outdated: another process took and released this number, and
      // a third one holds a lower one now.
      if (
        locksIn(dir).some(
          (other) => join(dir, `lock.${other}`) !== path && isHeld(join(dir, `lock.${other}`)),
        )
      ) {
        rmSync(path, { force: true });
        continue;
      }
      for (const stale of held) rmSync(join(dir, `lock.${stale}`), { force: true });
      return new RunLock(path);
    }
  }

  release(): void {
    clearInterval(this.#heartbeat);
    rmSync(this.#path, { force: true });
  }
}

function locksIn(dir: string): number[] {
  return readdirSync(dir)
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

function holderNow(): string {
  const start = startOf(process.pid);
  const holder: Holder = {
    pid: process.pid,
    start,
    host: hostname(),
    since: new Date().toISOString(),
  };
  return `${JSON.stringify(holder)}\n`;
}

/**
 * False if the file exists already. On file systems with links, it has its content from the start.
 */
function createWhole(path: string, content: string): boolean {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFile(temporary, content);
    linkSync(temporary, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EOPNOTSUPP')
      throw error;
    return createEmpty(path, content);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function createEmpty(path: string, content: string): boolean {
  try {
    const fd = openFile(path, 'wx');
    writeSync(fd, content);
    closeSync(fd);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isHeld(path: string): boolean {
  const age = ageOf(path);
  // It was released just now.
  if (age === undefined) return false;
  const holder = readHolder(path);
  // Writing a lock does not take this long, so the writer crashed.
  if (holder === undefined) return false;
  if (holder.host !== hostname()) return age < SILENT_MS;
  if (!isAlive(holder.pid)) return false;
  const start = startOf(holder.pid);
  return start === undefined || holder.start === undefined || start === holder.start;
}

/** False while a lock is incomplete, or if it was never completed. Undefined once it is gone. */
function isWritten(path: string): boolean | undefined {
  const age = ageOf(path);
  if (age === undefined) return undefined;
  return age >= WRITING_MS || readHolder(path) !== undefined;
}

/** Polling without a pause would slow down the writer. */
const pause = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);

function readHolder(path: string): Holder | undefined {
  try {
    const holder = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder>;
    return typeof holder.pid === 'number' && typeof holder.host === 'string'
      ? (holder as Holder)
      : undefined;
  } catch {
    return undefined;
  }
}

function ageOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : Date.now() - found.mtimeMs;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user cannot be signaled, but exists.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function startOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The program's name may contain any character, even ")", so fields are counted from the last
      // one.
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    }
    if (process.platform === 'win32') return undefined;
    // Loading it takes some milliseconds, and most machines run Linux.
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    const told = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    return told.trim() || undefined;
  } catch {
    return undefined;
  }
}

function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // The folder was removed during the run. Writing to it will report that.
  }
}

function inProgress(dir: string, last: number, runId: string): UserError {
  const holder = readHolder(join(dir, `lock.${last}`));
  const who =
    holder === undefined
      ? ''
      : ` by process ${holder.pid}${holder.host === hostname() ? '' : ` on ${holder.host}`} since ${holder.since}`;
  return new UserError('RUN_IN_PROGRESS', `run ${runId} is in progress${who}`, {
    hint: 'Wait until it ends, or start a new run without --resume.',
  });
}
