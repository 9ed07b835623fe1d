import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { killMarked, MARK, newMark } from '@agentci/lib/process';
import { forget, KILL_GRACE_MS, keepTrack, killTree, reasonOf, tail } from './process.ts';

export interface StandingOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How a process ended. */
export interface ProcessEnd {
  /** A phrase after the name of the program: `exited with code 1`. */
  readonly how: string;
  /** It ended before it was asked to. */
  readonly isByItself: boolean;
  readonly isClean: boolean;
  readonly stderr: string;
}

const MAX_STDERR = 64 * 1024;
/** Time to end by itself after its input was closed. */
export const CLOSE_GRACE_MS = 500;
/** A program that crashes right after its last answer has done so by then. */
const LAST_MOMENT_MS = 50;

/** A process that stays up while a run needs it, and is ended with all its children. */
export class StandingProcess {
  readonly ended: Promise<ProcessEnd>;
  end: ProcessEnd | undefined;
  #child: ChildProcessWithoutNullStreams | undefined;
  /** It takes no more input, although its last output may still be in the pipe. */
  hasExited = false;
  #isTold = false;
  readonly #mark = newMark();
  #stderr: Buffer[] = [];

  constructor({ command, args, cwd, env }: StandingOptions, onOutput: (chunk: Buffer) => void) {
    this.ended = new Promise((resolve) => {
      let exit: { how: string; isByItself: boolean; isClean: boolean } | undefined;
      const finish = (how: string): void => {
        if (this.end !== undefined) return;
        const pid = this.#child?.pid;
        killTree(pid, 'SIGKILL');
        forget(pid);
        killMarked(this.#mark);
        this.end = {
          ...(exit ?? { how, isByItself: !this.#isTold, isClean: false }),
          stderr: this.stderr(),
        };
        resolve(this.end);
      };
      try {
        const child = spawn(command, args, {
          cwd,
          env: { ...env, [MARK]: this.#mark } as NodeJS.ProcessEnv,
          stdio: ['pipe', 'pipe', 'pipe'],
          detached: process.platform !== 'win32',
          windowsHide: true,
        });
        this.#child = child;
        child.on('error', (error) => finish(`could not be started: ${reasonOf(error).message}`));
        if (child.stdout === undefined) return;
        keepTrack(child.pid);
        child.stdout.on('data', onOutput);
        child.stderr.on('data', (chunk: Buffer) => this.#keep(chunk));
        child.stdin.on('error', () => {});
        child.on('exit', (code, signal) => {
          this.hasExited = true;
          const how = code === null ? `was ended by ${signal}` : `exited with code ${code}`;
          exit = { how, isByItself: !this.#isTold, isClean: code === 0 };
          // Its last output is still in the pipe, which a grandchild may hold forever.
          setTimeout(() => finish(how), KILL_GRACE_MS / 4).unref();
        });
        child.on('close', () => finish('ended'));
      } catch (error) {
        finish(`could not be started: ${reasonOf(error as NodeJS.ErrnoException).message}`);
      }
    });
  }

  get isAlive(): boolean {
    return this.end === undefined;
  }

  write(text: string): void {
    this.#child?.stdin.write(text);
  }

  /** The end of its stderr. */
  stderr(): string {
    return tail(Buffer.concat(this.#stderr));
  }

  /** Starts the next part of stderr. */
  clearStderr(): void {
    this.#stderr = [];
  }

  kill(): Promise<ProcessEnd> {
    this.#isTold = true;
    killTree(this.#child?.pid, 'SIGTERM');
    return this.#within(KILL_GRACE_MS);
  }

  /** Waits briefly in case it ends by itself. */
  async lastMoment(): Promise<void> {
    if (this.isAlive) await Promise.race([this.ended, pauseFor(LAST_MOMENT_MS)]);
    if (this.hasExited) await this.ended;
  }

  /**
   * Closes its input, which tells a server that reads it to end. Then sends SIGTERM, then SIGKILL.
   */
  async stop(graceMs = CLOSE_GRACE_MS): Promise<ProcessEnd> {
    this.#isTold = true;
    this.#child?.stdin.end();
    if (this.isAlive) await Promise.race([this.ended, pauseFor(graceMs)]);
    return this.kill();
  }

  async #within(graceMs: number): Promise<ProcessEnd> {
    if (this.isAlive) await Promise.race([this.ended, pauseFor(graceMs)]);
    if (this.isAlive) killTree(this.#child?.pid, 'SIGKILL');
    return this.ended;
  }

  #keep(chunk: Buffer): void {
    this.#stderr.push(chunk);
    let size = this.#stderr.reduce((sum, part) => sum + part.length, 0);
    while (size > 2 * MAX_STDERR && this.#stderr.length > 1) size -= this.#stderr.shift()!.length;
  }
}

const pauseFor = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
