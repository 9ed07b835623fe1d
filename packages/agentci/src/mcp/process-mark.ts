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
  for (let round = 0; round < MAX_ROUNDS && killRound(wanted); round++);
}

/** Whether processes that carry the mark are still running after they had so long to end by themselves. */
export async function outlives(mark: string, graceMs: number): Promise<boolean> {
  const until = performance.now() + graceMs;
  while (isAlive(mark)) {
    if (performance.now() >= until) return true;
    await sleep(POLL_MS);
  }
  return false;
}

const POLL_MS = 25;
const MAX_ROUNDS = 5;

function isAlive(mark: string): boolean {
  if (process.platform !== 'linux') return false;
  const wanted = Buffer.from(`${MARK}=${mark}`);
  return processes().some((name) => {
    try {
      return readFileSync(`/proc/${name}/environ`).includes(wanted);
    } catch {
      return false;
    }
  });
}

function killRound(wanted: Buffer): boolean {
  let isFound = false;
  for (const name of processes()) {
    try {
      if (!readFileSync(`/proc/${name}/environ`).includes(wanted)) continue;
      process.kill(Number(name), 'SIGKILL');
      isFound = true;
    } catch {
      // It is gone, or another user's.
    }
  }
  return isFound;
}

function processes(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  } catch {
    return [];
  }
}
