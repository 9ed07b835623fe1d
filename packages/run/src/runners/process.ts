import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { systemErrorText } from '@agentci/lib/problems';
import { killMarked, MARK, newMark, outlives } from '@agentci/lib/process';
import { Undertaker } from './undertaker.ts';

export interface ProcessRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: string;
  readonly signal: AbortSignal;
  /** More output than this ends the process: an agent stuck in a print loop must not eat the machine. */
  readonly maxStdoutBytes: number;
  /** What the process leaves running gets this long to end by itself, and is reported if it does not. */
  readonly leftoverMs?: number | undefined;
  /** Called with the process id as soon as there is one; what it gives is called when the process is over. */
  readonly onStart?: ((pid: number) => () => void) | undefined;
}

export type ProcessOutcome =
  | {
      readonly ended: 'exited';
      readonly code: number;
      readonly stdout: Buffer;
      readonly stderr: string;
      /** Processes that it had started were still running, and were ended. */
      readonly hasLeftovers?: boolean;
    }
  | { readonly ended: 'signal'; readonly signal: string; readonly stderr: string }
  | { readonly ended: 'aborted'; readonly stderr: string }
  | { readonly ended: 'flooded'; readonly stderr: string }
  | { readonly ended: 'not_started'; readonly message: string; readonly code?: string | undefined };

const MAX_STDERR_BYTES = 64 * 1024;
/** Time between the polite and the final signal. */
export const KILL_GRACE_MS = 1000;
/** How long to wait for pipes held by a process that left the group. */
const PIPE_GRACE_MS = 500;

/**
 * Runs one process and takes its whole tree down when it is over.
 * Agents start servers and browsers; a grandchild that keeps stdout open would otherwise hold the run for ever, so the
 * process leads a group of its own and the group is what gets killed. A process that made a group or session of its own is
 * found by a mark in its environment, on Linux.
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
      // What no system can start, such as a null byte in an argument, is refused before there is a process.
      return resolve({ ended: 'not_started', ...reasonOf(error as NodeJS.ErrnoException) });
    }
    if (child.stdout === undefined) {
      // Without file descriptors for its pipes there is no process either.
      child.on('error', (error) => resolve({ ended: 'not_started', ...reasonOf(error) }));
      return;
    }
    keepTrack(child.pid);
    const onEnd = child.pid === undefined ? undefined : request.onStart?.(child.pid);
    const stdout: Buffer[] = [];
    let stdoutBytes = 0;
    const stderr: Buffer[] = [];
    let stderrBytes = 0;
    // Why the process is being ended, once that is decided; the first reason stays.
    let verdict: ((errors: string) => ProcessOutcome) | undefined;
    let finalKill: NodeJS.Timeout | undefined;
    let giveUp: NodeJS.Timeout | undefined;
    let isLeft = false;
    let isClosed = false;

    /** Ends the group: politely first, for good after the grace time; waits for the pipes, but not for ever. */
    const end = (outcome: (errors: string) => ProcessOutcome, signal: NodeJS.Signals) => {
      if (verdict) return;
      verdict = outcome;
      onEnd?.();
      killTree(child.pid, signal);
      finalKill = setTimeout(() => killTree(child.pid, 'SIGKILL'), KILL_GRACE_MS);
      giveUp = setTimeout(() => {
        isLeft = true;
        finish();
      }, KILL_GRACE_MS + PIPE_GRACE_MS);
    };
    const finish = () => {
      clearTimeout(finalKill);
      clearTimeout(giveUp);
      request.signal.removeEventListener('abort', onAbort);
      killTree(child.pid, 'SIGKILL');
      forget(child.pid);
      child.stdout.destroy();
      child.stderr.destroy();
      const outcome = verdict!(tail(Buffer.concat(stderr)));
      // Those that left the group are looked for where one is likely: after a process that had to be stopped, or pipes
      // that someone still holds. Looking takes some milliseconds.
      if (isLeft || outcome.ended === 'aborted' || outcome.ended === 'flooded') killMarked(mark);
      resolve(outcome);
    };
    const onAbort = () => end((errors) => ({ ended: 'aborted', stderr: errors }), 'SIGTERM');
    request.signal.addEventListener('abort', onAbort, { once: true });

    child.stdout.on('data', (chunk: Buffer) => {
      stdoutBytes += chunk.length;
      if (stdoutBytes <= request.maxStdoutBytes) stdout.push(chunk);
      else end((errors) => ({ ended: 'flooded', stderr: errors }), 'SIGKILL');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr.push(chunk);
      stderrBytes += chunk.length;
      // Only the end of stderr is kept: that is where the reason is.
      while (stderrBytes > 2 * MAX_STDERR_BYTES && stderr.length > 1)
        stderrBytes -= stderr.shift()!.length;
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      verdict ??= () => ({ ended: 'not_started', ...reasonOf(error) });
      finish();
    });
    // The leader is done: whatever it left running goes too, which also closes the pipes a grandchild may hold.
    child.on('exit', async (code, signal) => {
      const hasLeftovers =
        request.leftoverMs !== undefined && (await outlives(mark, request.leftoverMs));
      end((errors) => {
        if (code === null) return { ended: 'signal', signal: signal ?? 'unknown', stderr: errors };
        // What was still in the pipe may have been too much: half an output must not pass for a whole one.
        if (stdoutBytes > request.maxStdoutBytes) return { ended: 'flooded', stderr: errors };
        const output = { stdout: Buffer.concat(stdout), stderr: errors };
        return { ended: 'exited', code, ...output, hasLeftovers: hasLeftovers || undefined };
      }, 'SIGTERM');
      if (isClosed) finish();
    });
    child.on('close', () => {
      isClosed = true;
      if (verdict) finish();
    });
    // An agent that does not read its input is not an error.
    child.stdin.on('error', () => {});
    child.stdin.end(request.stdin);
  });
}

export const reasonOf = (
  error: NodeJS.ErrnoException,
): { message: string; code?: string | undefined } => ({
  message: systemErrorText(error) ?? error.message,
  code: error.code,
});

/** Groups that are running: should this process end in a hurry, they end with it. */
const running = new Set<number>();
let isWatching = false;
/** Should it be killed, somebody else has to do it. */
const undertaker = process.platform === 'win32' ? undefined : new Undertaker();

export function keepTrack(pid: number | undefined): void {
  if (pid === undefined) return;
  running.add(pid);
  undertaker?.begin(pid);
  if (isWatching) return;
  isWatching = true;
  process.on('exit', () => {
    for (const group of running) killTree(group, 'SIGKILL');
  });
}

export const forget = (pid: number | undefined): void => {
  if (pid !== undefined && running.delete(pid)) undertaker?.end(pid);
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
