import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { systemErrorText, UserError } from '@agentci/lib/problems';
import { MARK, newMark, outlives } from '@agentci/lib/process';

export interface ChildEnd {
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** Processes that it had started are still running. */
  readonly hasLeftovers: boolean;
}

/** A child that was told to stop, by Ctrl-C or by us, gets this long before it is told again, and again before it is killed. */
const GRACE_MS = 3000;
/** Servers that a program had started see its end and follow. */
const LEFTOVER_MS = 300;

/** Runs a program with this process's own input and output, and waits for its end. */
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
      // Ctrl-C reaches the child by itself where both share a terminal; a second signal at once would cut its clean-up short.
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
      reject(new UserError('CAPTURE_NOT_STARTED', `"${program}" could not be started: ${why}`));
    });
    child.on('exit', async (code, signal) => {
      done();
      const hasLeftovers = await outlives(mark, LEFTOVER_MS);
      resolve({ code: code ?? undefined, signal: signal ?? undefined, hasLeftovers });
    });
  });
}

/** As a shell gives it: the program's own code, or 128 and the number of the signal that ended it. */
export const exitCodeOf = ({ code, signal }: Pick<ChildEnd, 'code' | 'signal'>): number =>
  code ?? 128 + (signal === undefined ? 0 : (constants.signals[signal] ?? 0));
