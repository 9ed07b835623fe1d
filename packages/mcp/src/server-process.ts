import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { systemErrorText, UserError } from '@agentci/lib/problems';
import { killMarked, newMark, SERVER_MARK } from '@agentci/lib/process';

/** Time for a server to exit after its input was closed. */
const POLITE_MS = 1000;
/** Clients kill us four seconds after they close our input. The server must be gone by then. */
const KILL_MS = 3000;
/** Maximum time to read remaining output, if a descendant keeps the pipe open. */
const DRAIN_MS = 250;

/** An MCP server over stdio, in a separate process group. */
export interface ServerProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The exit code. Settles after the server has exited and its output was read. */
  readonly ended: Promise<number>;
  /**
   * Closes its input, then sends SIGTERM after a delay (immediately with `now`), and finally kills
   * the group.
   */
  readonly stop: (now?: boolean) => void;
}

/** Starts a server that shares our stderr. */
export function startServer(
  command: readonly string[],
  {
    env,
    cwd,
  }: { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string },
): Promise<ServerProcess> {
  const [program = '', ...args] = command;
  const isGroup = process.platform !== 'win32';
  const mark = newMark();
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(notStarted(program, error));
    let child: ReturnType<typeof spawnServer>;
    try {
      child = spawnServer(program, args, { env: { ...env, [SERVER_MARK]: mark }, cwd, isGroup });
    } catch (error) {
      fail(error as NodeJS.ErrnoException);
      return;
    }
    const timers: NodeJS.Timeout[] = [];
    let hasEnded = false;
    const signal = (name: NodeJS.Signals): void => {
      try {
        if (isGroup) process.kill(-child.pid!, name);
        else child.kill(name);
      } catch {
        // The whole group has exited.
      }
    };
    const stop = (now = false): void => {
      child.stdin.end();
      if (now) signal('SIGTERM');
      if (timers.length > 0) return;
      timers.push(
        setTimeout(() => signal('SIGTERM'), POLITE_MS),
        setTimeout(() => signal('SIGKILL'), KILL_MS),
      );
    };
    const ended = lastCode(child).then((code) => {
      for (const timer of timers) clearTimeout(timer);
      // Descendants have no client, whatever their group or session.
      signal('SIGKILL');
      killMarked(mark, SERVER_MARK);
      hasEnded = true;
      return code;
    });
    // The server does not outlive this process.
    process.once('exit', () => {
      if (hasEnded) return;
      signal('SIGKILL');
      killMarked(mark, SERVER_MARK);
    });
    // The exit handler reports a server that closed its input or exited.
    child.stdin.on('error', () => {});
    child.stdout.on('error', () => {});
    child.once('error', fail);
    child.once('spawn', () => resolve({ stdin: child.stdin, stdout: child.stdout, ended, stop }));
  });
}

function notStarted(program: string, error: NodeJS.ErrnoException): UserError {
  const why =
    error.code === 'ENOENT'
      ? 'no program of this name was found'
      : (systemErrorText(error) ?? error.message);
  return new UserError('PROGRAM_NOT_STARTED', `"${program}" could not be started: ${why}`);
}

/** The exit code, after the server has exited and its output was read. */
const lastCode = (child: ReturnType<typeof spawnServer>): Promise<number> =>
  new Promise((done) => {
    child.on('exit', (code, name) => {
      const finish = (): void =>
        done(code ?? 128 + (name === null ? 0 : (constants.signals[name] ?? 0)));
      if (child.stdout.readableEnded || child.stdout.destroyed) return finish();
      const timer = setTimeout(finish, DRAIN_MS);
      child.stdout.once('end', () => {
        clearTimeout(timer);
        finish();
      });
    });
  });

const spawnServer = (
  program: string,
  args: readonly string[],
  options: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly cwd: string;
    readonly isGroup: boolean;
  },
) =>
  spawn(program, args, {
    cwd: options.cwd,
    env: options.env as NodeJS.ProcessEnv,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: options.isGroup,
    windowsHide: true,
  });
