import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { systemErrorText } from '@agentci/lib/problems';
import { killMarked, MARK, newMark, outlives } from '@agentci/lib/process';
import { ProcessReaper } from './process-reaper.ts';

export interface ProcessRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: string;
  readonly signal: AbortSignal;
  /**
   * More output ends the process, because an agent in a print loop must not exhaust the machine.
   */
  readonly maxStdoutBytes: number;
  /** Grace time for remaining child processes, which are reported if they do not end. */
  readonly leftoverMs?: number | undefined;
  /**
   * Called with the process id as soon as it exists. The returned function is called at the end of
   * the process.
   */
  readonly onStart?: ((pid: number) => () => void) | undefined;
}

export type ProcessOutcome =
  | {
      readonly ended: 'exited';
      readonly code: number;
      readonly stdout: Buffer;
      readonly stderr: string;
      /** Child processes were still running and were ended. */
      readonly hasLeftovers?: boolean;
    }
  | { readonly ended: 'signal'; readonly signal: string; readonly stderr: string }
  | { readonly ended: 'aborted'; readonly stderr: string }
  | { readonly ended: 'flooded'; readonly stderr: string }
  | { readonly ended: 'not_started'; readonly message: string; readonly code?: string | undefined };

const MAX_STDERR_BYTES = 64 * 1024;
/** Time between SIGTERM and SIGKILL. */
export const KILL_GRACE_MS = 1000;
/** Time to wait for pipes held by a process that left the group. */
const PIPE_GRACE_MS = 500;

/**
 * Runs one process and ends its whole tree. Agents start servers and browsers, and a grandchild
 * that keeps stdout open would hold the run forever. So the process leads a new group, and the
 * group is killed. On Linux, a process that created another group or session is found by a mark in
 * its environment.
 */
export function runProcess(request: ProcessRequest): Promise<ProcessOutcome> {
  return new Promise((resolve) => {
    if (request.signal.aborted) return resolve({ ended: 'aborted', stderr: '' });
    const mark = newMark();
    let child: ChildProcessWithoutNullStreams;
    try {
      child = spawn(request.command, request.args, {
        cwd: request.cwd,
        env: { ...request.env, [MARK]: mark } as NodeJS.ProcessEnv,
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: process.platform !== 'win32',
        windowsHide: true,
      });
    } catch (error) {
      // A command that no system can start, for example with a null byte in an argument.
      return resolve({ ended: 'not_started', ...reasonOf(error as NodeJS.ErrnoException) });
    }
    if (child.stdout === undefined) {
      // Without file descriptors for its pipes there is no process either.
      child.on('error', (error) => resolve({ ended: 'not_started', ...reasonOf(error) }));
      return;
    }
    new RunningProcess(child, mark, request, resolve);
  });
}

/** A process from its start until its outcome is known and all its children have ended. */
class RunningProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #mark: string;
  readonly #request: ProcessRequest;
  readonly #resolve: (outcome: ProcessOutcome) => void;
  readonly #onEnd: (() => void) | undefined;
  readonly #stdout: Buffer[] = [];
  #stdoutBytes = 0;
  readonly #stderr: Buffer[] = [];
  #stderrBytes = 0;
  /** The reason to end the process, once decided. The first reason stays. */
  #verdict: ((errors: string) => ProcessOutcome) | undefined;
  #finalKill: NodeJS.Timeout | undefined;
  #giveUp: NodeJS.Timeout | undefined;
  #isLeft = false;
  #isClosed = false;

  constructor(
    child: ChildProcessWithoutNullStreams,
    mark: string,
    request: ProcessRequest,
    resolve: (outcome: ProcessOutcome) => void,
  ) {
    this.#child = child;
    this.#mark = mark;
    this.#request = request;
    this.#resolve = resolve;
    keepTrack(child.pid);
    this.#onEnd = child.pid === undefined ? undefined : request.onStart?.(child.pid);
    request.signal.addEventListener('abort', this.#onAbort, { once: true });
    child.stdout.on('data', this.#onStdout);
    child.stderr.on('data', this.#onStderr);
    child.on('error', (error: NodeJS.ErrnoException) => {
      this.#verdict ??= () => ({ ended: 'not_started', ...reasonOf(error) });
      this.#finish();
    });
    child.on('exit', this.#onExit);
    child.on('close', () => {
      this.#isClosed = true;
      if (this.#verdict) this.#finish();
    });
    // An agent that does not read its input is not an error.
    child.stdin.on('error', () => {});
    child.stdin.end(request.stdin);
  }

  readonly #onAbort = (): void =>
    this.#end((errors) => ({ ended: 'aborted', stderr: errors }), 'SIGTERM');

  readonly #onStdout = (chunk: Buffer): void => {
    this.#stdoutBytes += chunk.length;
    if (this.#stdoutBytes <= this.#request.maxStdoutBytes) this.#stdout.push(chunk);
    else this.#end((errors) => ({ ended: 'flooded', stderr: errors }), 'SIGKILL');
  };

  readonly #onStderr = (chunk: Buffer): void => {
    this.#stderr.push(chunk);
    this.#stderrBytes += chunk.length;
    // Only the end of stderr is kept, because it contains the reason.
    while (this.#stderrBytes > 2 * MAX_STDERR_BYTES && this.#stderr.length > 1)
      this.#stderrBytes -= this.#stderr.shift()!.length;
  };

  /**
   * The leader has exited. Remaining children are ended too, which closes the pipes that a
   * grandchild may hold.
   */
  readonly #onExit = async (code: number | null, signal: NodeJS.Signals | null): Promise<void> => {
    const { leftoverMs, maxStdoutBytes } = this.#request;
    const hasLeftovers = leftoverMs !== undefined && (await outlives(this.#mark, leftoverMs));
    this.#end((errors) => {
      if (code === null) return { ended: 'signal', signal: signal ?? 'unknown', stderr: errors };
      // The rest of the pipe may have exceeded the limit. A truncated output must not count as
      // complete.
      if (this.#stdoutBytes > maxStdoutBytes) return { ended: 'flooded', stderr: errors };
      const output = { stdout: Buffer.concat(this.#stdout), stderr: errors };
      return { ended: 'exited', code, ...output, hasLeftovers: hasLeftovers || undefined };
    }, 'SIGTERM');
    if (this.#isClosed) this.#finish();
  };

  /**
   * Ends the group: SIGTERM, then SIGKILL after the grace time. Waits for the pipes, but not
   * forever.
   */
  #end(outcome: (errors: string) => ProcessOutcome, signal: NodeJS.Signals): void {
    if (this.#verdict) return;
    this.#verdict = outcome;
    this.#onEnd?.();
    killTree(this.#child.pid, signal);
    this.#finalKill = setTimeout(() => killTree(this.#child.pid, 'SIGKILL'), KILL_GRACE_MS);
    this.#giveUp = setTimeout(() => {
      this.#isLeft = true;
      this.#finish();
    }, KILL_GRACE_MS + PIPE_GRACE_MS);
  }

  #finish(): void {
    clearTimeout(this.#finalKill);
    clearTimeout(this.#giveUp);
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    killTree(this.#child.pid, 'SIGKILL');
    forget(this.#child.pid);
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
    const outcome = this.#verdict!(tail(Buffer.concat(this.#stderr)));
    // Processes that left the group are searched for only if they are likely: after a stopped
    // process, or if pipes are still held. The search takes some milliseconds.
    if (this.#isLeft || outcome.ended === 'aborted' || outcome.ended === 'flooded')
      killMarked(this.#mark);
    this.#resolve(outcome);
  }
}

export const reasonOf = (
  error: NodeJS.ErrnoException,
): { message: string; code?: string | undefined } => ({
  message: systemErrorText(error) ?? error.message,
  code: error.code,
});

/** Running groups. They are ended if this process exits early. */
const running = new Set<number>();
let isWatching = false;
/** If this process is killed, a separate shell ends them. */
const reaper = process.platform === 'win32' ? undefined : new ProcessReaper();

export function keepTrack(pid: number | undefined): void {
  if (pid === undefined) return;
  running.add(pid);
  reaper?.begin(pid);
  if (isWatching) return;
  isWatching = true;
  process.on('exit', () => {
    for (const group of running) killTree(group, 'SIGKILL');
  });
}

export const forget = (pid: number | undefined): void => {
  if (pid !== undefined && running.delete(pid)) reaper?.end(pid);
};

export function tail(buffer: Buffer): string {
  const text = buffer.subarray(Math.max(0, buffer.length - MAX_STDERR_BYTES)).toString('utf8');
  return buffer.length > MAX_STDERR_BYTES ? `…${text}` : text;
}

export function killTree(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}
