import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** An environment variable that every process of an agent inherits, in any group or session. */
export const MARK = 'AGENTCI_PROCESS_MARK';

/** The same for an MCP server behind a tap, next to the agent's mark. */
export const SERVER_MARK = 'AGENTCI_SERVER_MARK';

/** A mark that is unique on this machine. */
export const newMark = (): string => `${process.pid}-${process.hrtime.bigint()}`;

/**
 * Kills every process with the mark. Works through /proc, so other systems than Linux miss a
 * process that left its group. A process that clears its environment is never found.
 */
export function killMarked(mark: string, variable: string = MARK): void {
  if (process.platform !== 'linux') return;
  const wanted = Buffer.from(`${variable}=${mark}`);
  // Repeats until none is left, because a process may start another one while it is killed.
  for (let round = 0, unclear = 0; round < MAX_ROUNDS && unclear < MAX_UNCLEAR; ) {
    const seen = lookFor(wanted, PROC, (pid) => process.kill(pid, 'SIGKILL'));
    if (seen === 'none') return;
    if (seen === 'marked') round += 1;
    else {
      unclear += 1;
      Atomics.wait(pause, 0, 0, UNCLEAR_MS);
    }
  }
}

/** Whether marked processes still run after a grace period. */
export async function outlives(
  mark: string,
  graceMs: number,
  proc: string = PROC,
): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const wanted = Buffer.from(`${MARK}=${mark}`);
  const until = performance.now() + graceMs;
  for (let unclear = 0; unclear < MAX_UNCLEAR; ) {
    const seen = lookFor(wanted, proc);
    if (seen === 'none') return false;
    if (seen === 'marked' && performance.now() >= until) return true;
    unclear = seen === 'marked' ? 0 : unclear + 1;
    await sleep(seen === 'marked' ? POLL_MS : UNCLEAR_MS);
  }
  return false;
}

const PROC = '/proc';
const POLL_MS = 25;
const MAX_ROUNDS = 5;
/** An exec takes about a millisecond, and longer on a loaded machine. */
const UNCLEAR_MS = 5;
const MAX_UNCLEAR = 8;
const pause = new Int32Array(new SharedArrayBuffer(4));

type Seen = 'marked' | 'unclear' | 'none';

/** Scans all processes once and calls `onMarked` for those with the mark. */
function lookFor(wanted: Buffer, proc: string, onMarked?: (pid: number) => void): Seen {
  let seen: Seen = 'none';
  for (const name of processes(proc)) {
    try {
      const environment = readFileSync(`${proc}/${name}/environ`);
      if (environment.includes(wanted)) {
        seen = 'marked';
        onMarked?.(Number(name));
      } else if (
        environment.length === 0 &&
        seen === 'none' &&
        isChangingPrograms(`${proc}/${name}`)
      )
        seen = 'unclear';
    } catch {
      // It has ended, or belongs to another user.
    }
  }
  return seen;
}

/**
 * During exec a process shows no environment and may be anyone's. Kernel threads and zombies never
 * show one. Processes older than this one cannot be our agents.
 */
function isChangingPrograms(folder: string): boolean {
  const { state, flags, startedAt } = statusOf(folder);
  return state !== 'Z' && state !== 'X' && (flags & KERNEL_THREAD) === 0 && startedAt >= ownStart();
}

const KERNEL_THREAD = 0x0020_0000;

function statusOf(folder: string): { state: string | undefined; flags: number; startedAt: number } {
  const stat = readFileSync(`${folder}/stat`, 'utf8');
  // The program name ends at the last bracket and may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0], flags: Number(fields[6]), startedAt: Number(fields[19]) };
}

let ownStartedAt: number | undefined;
const ownStart = (): number => {
  ownStartedAt ??= statusOf(`${PROC}/self`).startedAt;
  return ownStartedAt;
};

function processes(proc: string): string[] {
  try {
    return readdirSync(proc).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  } catch {
    return [];
  }
}
