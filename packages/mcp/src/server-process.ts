import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { systemErrorText, UserError } from '@agentci/lib/problems';
import { killMarked, newMark, SERVER_MARK } from '@agentci/lib/process';

/** A server whose input was closed gets this long to end by itself. */
const POLITE_MS = 1000;
/** Clients kill us four seconds after they closed our input: by then the server must be gone. */
const KILL_MS = 3000;
/** What a server wrote before its end is read for this long, should something of it keep its output open. */
const DRAIN_MS = 250;

/** An MCP server that talks on its standard input and output, in a process group of its own. */
export interface ServerProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The code to exit with; settles once the server is gone and all it wrote has been read. */
  readonly ended: Promise<number>;
  /** Closes its input, asks it to stop after a moment (at once with `now`), and kills the group in the end. */
  readonly stop: (now?: boolean) => void;
}

/** Starts a server. Its errors go where ours go. */
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
        // All of it is gone.
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
      // What it started and left behind has no one to talk to, whatever group or session it is in.
      signal('SIGKILL');
      killMarked(mark, SERVER_MARK);
      hasEnded = true;
      return code;
    });
    // Whatever ends this process, the server does not outlive it.
    process.once('exit', () => {
      if (hasEnded) return;
      signal('SIGKILL');
      killMarked(mark, SERVER_MARK);
    });
    // A server that closed its input or is gone is told of by its exit.
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
  return new UserError('MCP_NOT_STARTED', `"${program}" could not be started: ${why}`);
}

/** The exit code, once the server is gone and all it wrote has been read. */
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
