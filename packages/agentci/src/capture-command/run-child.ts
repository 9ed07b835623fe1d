import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { systemErrorText, UserError } from '@agentci/lib/problems';
import { MARK, newMark, outlives } from '@agentci/lib/process';

export interface ChildEnd {
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** Processes started by the program are still running. */
  readonly hasLeftovers: boolean;
}

/**
 * Grace period of a child after Ctrl-C or our stop: before the second signal, and again before
 * SIGKILL.
 */
const GRACE_MS = 3000;
/** Servers started by the program notice its exit and stop too. */
const LEFTOVER_MS = 300;

/** Runs a program with the stdio of this process and waits until it exits. */
export function runChild(options: {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly signal: AbortSignal;
}): Promise<ChildEnd> {
  const [program = '', ...args] = options.command;
  const mark = newMark();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...options.env, [MARK]: mark } as NodeJS.ProcessEnv,
      stdio: 'inherit',
      windowsHide: true,
    });
    const timers: NodeJS.Timeout[] = [];
    const onAbort = (): void => {
      // Ctrl-C reaches the child directly if both share a terminal. A second signal right away
      // would cut its cleanup short.
      timers.push(setTimeout(() => child.kill('SIGTERM'), process.stdin.isTTY ? GRACE_MS : 0));
      timers.push(setTimeout(() => child.kill('SIGKILL'), 2 * GRACE_MS));
    };
    const done = (): void => {
      for (const timer of timers) clearTimeout(timer);
      options.signal.removeEventListener('abort', onAbort);
    };
    if (options.signal.aborted) onAbort();
    else options.signal.addEventListener('abort', onAbort, { once: true });
    child.on('error', (error: NodeJS.ErrnoException) => {
      done();
      const why =
        error.code === 'ENOENT'
          ? 'no program of this name was found'
          : (systemErrorText(error) ?? error.message);
      reject(new UserError('PROGRAM_NOT_STARTED', `"${program}" could not be started: ${why}`));
    });
    child.on('exit', async (code, signal) => {
      done();
      const hasLeftovers = await outlives(mark, LEFTOVER_MS);
      resolve({ code: code ?? undefined, signal: signal ?? undefined, hasLeftovers });
    });
  });
}

/** Exit code as a shell reports it: the program's code, or 128 plus the signal number. */
export const exitCodeOf = ({ code, signal }: Pick<ChildEnd, 'code' | 'signal'>): number =>
  code ?? 128 + (signal === undefined ? 0 : (constants.signals[signal] ?? 0));
