import { Worker } from 'node:worker_threads';
import type { RunnerConfig } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { classifyError, type ErrorFacts } from './classify-error.ts';
import { AgentError, type Begun, inputOf, type RunOutput, type RunRequest } from './runner.ts';
import type { GivenValue } from './stream/given-value.ts';

interface Reply extends GivenValue {
  readonly call: number;
  readonly ok: boolean;
  /** Not the reply to a call: the module was loaded, or failed to load. */
  readonly isLoaded?: boolean;
  readonly loading?: boolean;
  /** The function returned a value that cannot be passed on. */
  readonly returned?: boolean;
  /** Time from the call of the function to its answer. */
  readonly ranMs?: number;
  readonly begun?: Begun;
  readonly error?: ErrorFacts & { readonly stack?: string };
  /** The thread ended because of an uncaught error. */
  readonly crashed?: boolean;
  /** A call failed in the background after its answer. */
  readonly late?: boolean;
}

const MAX_PRINTED_BYTES = 64 * 1024;
/** Maximum number of background errors to report. */
const MAX_LATE = 5;
/** Time for the agent to return after an abort before its thread is ended. */
const ABORT_GRACE_MS = 250;

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of an agent's threads without a capture. */
export const threadEnv = (
  { env }: Extract<RunnerConfig, { kind: 'module' }>,
  around: Environment,
): Environment => ({
  ...around,
  ...env,
});

/** A thread that waits for the name of its module. */
export const startThread = (env: Environment): Worker =>
  new Worker(new URL('./module-host.mjs', import.meta.url), {
    env: env as NodeJS.ProcessEnv,
    stdout: true,
    stderr: true,
  });

/** The function in a module that a thread calls. */
export interface ModuleFunction {
  readonly file: string;
  readonly exportName: string;
  /** Its name in messages, such as `the metric`. */
  readonly what?: string;
}

/** One thread with the module loaded. */
export class ModuleThread {
  alive = true;
  onGone: () => void = () => {};
  onLate: (why: string) => void = () => {};
  readonly #worker: Worker;
  /** Settles when the module is loaded, or has failed to load. */
  readonly loaded: Promise<void>;
  #isLoaded = (): void => {};
  #calls = 0;
  #ranMs: number | undefined;
  /** Counts of the last call, if they are tracked. */
  begun: Begun | undefined;
  #pending:
    | { call: number; resolve: (given: GivenValue) => void; reject: (error: Error) => void }
    | undefined;
  #output: Buffer[] = [];
  /** The queries of the calls so far, to identify failed background tasks. */
  readonly #queries = new Map<number, string>();
  #late: Trace['warnings'] = [];

  readonly #what: string;

  constructor(worker: Worker, { file, exportName, what = 'the agent' }: ModuleFunction) {
    this.#what = what;
    this.loaded = new Promise((resolve) => {
      this.#isLoaded = resolve;
    });
    this.#worker = worker;
    worker.postMessage({ type: 'load', file, exportName });
    this.#worker.on('message', (reply: Reply) => this.#settle(reply));
    this.#worker.on('error', (error) => this.#gone(error.message));
    this.#worker.on('exit', (code) => this.#gone(`its thread ended with code ${code}`));
    for (const stream of [this.#worker.stdout, this.#worker.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output.push(chunk);
        let bytes = this.#output.reduce((sum, part) => sum + part.length, 0);
        while (bytes - this.#output[0]!.length >= MAX_PRINTED_BYTES)
          bytes -= this.#output.shift()!.length;
      });
    }
  }

  call(request: RunRequest): Promise<GivenValue> {
    const { signal, query, id, run, metadata, vars, turn } = request;
    this.#queries.set(this.#calls + 1, id);
    if (turn !== undefined)
      return this.#send({ query: turn.message, context: inputOf(request), hasState: true }, signal);
    return this.#send(
      { query, context: { id, run, metadata: metadata ?? {}, vars: vars ?? {} } },
      signal,
    );
  }

  /** Ends the conversation. The next one starts with an empty state. */
  forgetState(): void {
    this.#worker.postMessage({ type: 'forget' });
  }

  /** Calls the function with these arguments. */
  async send(args: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    return (await this.#send({ args }, signal)).value;
  }

  /**
   * Calls the function with the content of the message: a query and its context, or the arguments
   * themselves.
   */
  #send(message: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<GivenValue> {
    const call = ++this.#calls;
    this.#output = [];
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#worker.postMessage({ type: 'abort', call });
        setTimeout(() => {
          if (this.#pending?.call === call) void this.end();
        }, ABORT_GRACE_MS);
      };
      const done = () => {
        signal.removeEventListener('abort', onAbort);
        this.#pending = undefined;
      };
      this.#pending = {
        call,
        resolve: (value) => {
          done();
          resolve(value);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
      this.#worker.postMessage({ ...message, type: 'call', call });
    });
  }

  /** The agent's own time. The rest of the first call was starting the thread and loading. */
  clock(waitedMs: number): Pick<RunOutput, 'wallMs' | 'coldStartMs'> {
    if (this.#ranMs === undefined) return { wallMs: waitedMs };
    return {
      wallMs: this.#ranMs,
      coldStartMs: this.#calls === 1 ? Math.max(0, waitedMs - this.#ranMs) : undefined,
    };
  }

  /** New background failures of queries that were already answered. */
  lateErrors(): Trace['warnings'] {
    const late = this.#late;
    this.#late = [];
    return late;
  }

  /** The output of the module during the last call, or the end of it. */
  printed(): string {
    return Buffer.concat(this.#output).subarray(-MAX_PRINTED_BYTES).toString('utf8');
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle(reply: Reply): void {
    if (reply.isLoaded) {
      this.#isLoaded();
      return;
    }
    if (reply.late || (reply.crashed && this.#pending === undefined))
      this.onLate(reply.error?.message ?? '');
    if (reply.late) {
      const query = this.#queries.get(reply.call) ?? 'unknown';
      const message = `a background task of the earlier query "${query}" failed: ${reply.error?.message ?? ''}`;
      if (this.#late.length < MAX_LATE) this.#late.push({ code: 'BACKGROUND_ERROR', message });
      return;
    }
    if (reply.crashed) {
      this.#gone(reply.error?.message ?? 'no reason given');
      return;
    }
    if (this.#pending?.call !== reply.call) return;
    this.#ranMs = reply.ranMs;
    this.begun = reply.begun;
    if (reply.ok) {
      this.#pending.resolve(reply);
      return;
    }
    const prefix = reply.loading
      ? 'the module could not be loaded: '
      : `${this.#what} ${reply.returned ? 'returned' : 'threw'} `;
    const error = reply.error ?? { message: 'no reason given' };
    this.#pending.reject(
      classifyError(error, {
        prefix,
        stderr: [this.printed(), error.stack ?? ''].filter(Boolean).join('\n'),
      }),
    );
  }

  #gone(why: string): void {
    if (!this.alive) return;
    this.alive = false;
    this.#isLoaded();
    this.onGone();
    this.#pending?.reject(
      new AgentError('agent', `${this.#what} stopped: ${why}`, { stderr: this.printed() }),
    );
  }
}
