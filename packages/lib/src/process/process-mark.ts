import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The variable that every process of an agent inherits, whichever group or session it moves to. */
export const MARK = 'AGENTCI_PROCESS_MARK';

/** The same for an MCP server behind a tap: whoever runs the tap finds its processes by the other one still. */
export const SERVER_MARK = 'AGENTCI_SERVER_MARK';

/** No other process of this machine makes the same. */
export const newMark = (): string => `${process.pid}-${process.hrtime.bigint()}`;

/**
 * Ends every process that carries the mark. Linux shows the environment of a user's processes; other systems do not, and
 * there a process that left its group is not found. A process that clears its environment is not found anywhere.
 */
export function killMarked(mark: string, variable: string = MARK): void {
  if (process.platform !== 'linux') return;
  const wanted = Buffer.from(`${variable}=${mark}`);
  // One that is starting another while it is killed would leave that one behind, so this is done until none is found.
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

/** Whether processes that carry the mark are still running after they had so long to end by themselves. */
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
/** A program is in place within a millisecond or so; a loaded machine takes longer. */
const UNCLEAR_MS = 5;
const MAX_UNCLEAR = 8;
const pause = new Int32Array(new SharedArrayBuffer(4));

type Seen = 'marked' | 'unclear' | 'none';

/** Looks at every process once, and tells `onMarked` of those that carry the mark. */
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
      // It is gone, or another user's.
    }
  }
  return seen;
}

/**
 * Between two programs (`exec`) a process shows no environment for a moment, and may be any program's. Threads of the kernel
 * and processes that have ended never show one; those that are older than we are cannot be our agents'.
 */
function isChangingPrograms(folder: string): boolean {
  const { state, flags, startedAt } = statusOf(folder);
  return state !== 'Z' && state !== 'X' && (flags & KERNEL_THREAD) === 0 && startedAt >= ownStart();
}

const KERNEL_THREAD = 0x0020_0000;

function statusOf(folder: string): { state: string | undefined; flags: number; startedAt: number } {
  const stat = readFileSync(`${folder}/stat`, 'utf8');
  // The name of the program comes before the last bracket and may hold anything.
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
