import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { UserError } from '../kit/user-error.ts';
import type { Trace } from '../trace/model.ts';
import { classifyError, type ErrorFacts } from './classify-error.ts';
import type { RunnerConfig } from './config.ts';
import {
  AgentError,
  type Begun,
  inputOf,
  type Lookout,
  type Runner,
  type RunnerEnvironment,
  type RunOutput,
  type RunRequest,
} from './runner.ts';
import { type GivenValue, givenOutput } from './stream/given-value.ts';

interface Reply extends GivenValue {
  readonly call: number;
  readonly ok: boolean;
  /** Not the reply to a call: the module is loaded, or cannot be. */
  readonly isLoaded?: boolean;
  readonly loading?: boolean;
  /** The function returned, but not what can be handed on. */
  readonly returned?: boolean;
  /** From the call of the function to its answer. */
  readonly ranMs?: number;
  readonly begun?: Begun;
  readonly error?: ErrorFacts & { readonly stack?: string };
  /** The thread ended because of an error that nothing caught. */
  readonly crashed?: boolean;
  /** A call that had answered already failed in the background. */
  readonly late?: boolean;
}

const MAX_PRINTED_BYTES = 64 * 1024;
/** Of the errors in the background so many are told. */
const MAX_LATE = 5;
/** A module that takes longer to load is loaded while its query runs. */
const WARM_MS = 10_000;
/** After an abort the agent gets this long to return by itself before its thread is ended. */
const ABORT_GRACE_MS = 250;

/**
 * Calls a function of the user's module, `(query, {id, run, metadata, vars, signal})`, in worker threads: one query per thread
 * at a time, threads reused between queries and replaced when they had to be ended. In a conversation it is called with the
 * newest message, and the second argument has what was said and an object for what the agent wants to keep.
 */
export function createModuleRunner(
  config: Extract<RunnerConfig, { kind: 'module' }>,
  around: RunnerEnvironment,
): Runner {
  const file = resolve(around.dir, config.module);
  if (!existsSync(file)) {
    throw new UserError('RUNNER_MODULE_MISSING', `runner.module: there is no file "${config.module}"`, {
      hint: 'The path is relative to the spec.',
    });
  }
  const idle: Host[] = [];
  const all = new Set<Host>();
  let isClosed = false;
  /** A thread keeps its own, since its module may have read the environment when it was loaded. */
  const lookouts = new WeakMap<Host, Lookout>();
  const start = async (): Promise<Host> => {
    // Without a watch there is nothing to wait for, so that whoever closes the runner now finds the thread.
    const lookout = around.watch === undefined ? undefined : await around.watch.open();
    if (isClosed) {
      await lookout?.close();
      throw new AgentError('infra', 'the agent was stopped');
    }
    const host = new Host(file, config.export, lookout?.env ?? { ...around.env, ...config.env });
    all.add(host);
    if (lookout !== undefined) lookouts.set(host, lookout);
    host.onGone = () => {
      all.delete(host);
      void lookout?.close();
    };
    return host;
  };
  const take = async (): Promise<Host> => idle.pop() ?? (await start());
  // A thread that answered, even with an error, is fit for the next query; one that had to be ended is not.
  const giveBack = (host: Host): void => {
    if (host.alive) idle.push(host);
  };
  const runOn = async (host: Host, request: RunRequest): Promise<RunOutput> => {
    const lookout = lookouts.get(host);
    lookout?.begin(request);
    const started = performance.now();
    const given = await host.call(request);
    // It has a moment to end well once its time is up; what it says in it is late all the same.
    if (request.signal.aborted) throw new AgentError('infra', 'the agent answered after it was told to stop');
    const waitedMs = performance.now() - started;
    // What the agent left running may still call models: the thread is free when that is over.
    const seen = await lookout?.end('itself', host.begun);
    const clock = host.clock(waitedMs);
    const { acceptsErrors } = config;
    const stderr = host.printed();
    const output = givenOutput(given, { acceptsErrors, stderr });
    const warnings = [...(output.warnings ?? []), ...host.lateErrors()];
    return {
      ...output,
      ...clock,
      stderr,
      ...(acceptsErrors ? { acceptsErrors } : {}),
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(seen === undefined ? {} : { seen }),
    };
  };
  return {
    run: async (request) => {
      const host = await take();
      try {
        return await runOn(host, request);
      } finally {
        giveBack(host);
      }
    },
    warm: async () => {
      if (idle.length > 0) return;
      const host = await start().catch(() => undefined);
      if (host === undefined) return;
      const enough = new AbortController();
      await Promise.race([host.loaded, sleep(WARM_MS, undefined, { signal: enough.signal }).catch(() => {})]);
      enough.abort();
      giveBack(host);
    },
    // The turns of a conversation share a thread, since their state is in it.
    open: async () => {
      const host = await take();
      return {
        run: (request) => runOn(host, request),
        close: async () => {
          host.forgetState();
          giveBack(host);
        },
      };
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...all].map((host) => host.end()));
    },
  };
}

/** Calls one function of a user's module with any arguments, in a thread that can be ended. */
export interface ModuleCaller {
  /** Rejects when the function throws, or when the signal aborts and the function does not return by itself. */
  readonly call: (args: readonly unknown[], signal: AbortSignal) => Promise<unknown>;
  /** What failed in the background when its call had returned long ago. */
  readonly lateErrors: () => readonly string[];
  readonly close: () => Promise<void>;
}

/** A caller whose thread is started at the first call and replaced when it had to be ended. One call at a time. */
export function createModuleCaller(options: {
  readonly file: string;
  readonly exportName: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What messages call the function, e.g. `the metric`. */
  readonly what: string;
}): ModuleCaller {
  let host: Host | undefined;
  const late: string[] = [];
  return {
    call: (args, signal) => {
      if (host?.alive !== true) {
        host = new Host(options.file, options.exportName, options.env, options.what);
        host.onLate = (why) => late.push(why);
      }
      return host.send(args, signal);
    },
    lateErrors: () => late,
    close: async () => host?.end(),
  };
}

/** One thread with the module loaded. */
class Host {
  alive = true;
  onGone: () => void = () => {};
  onLate: (why: string) => void = () => {};
  readonly #worker: Worker;
  /** Settles when the module is loaded, or cannot be. */
  readonly loaded: Promise<void>;
  #isLoaded = (): void => {};
  #calls = 0;
  #ranMs: number | undefined;
  /** By the last call, where it is counted. */
  begun: Begun | undefined;
  #pending: { call: number; resolve: (given: GivenValue) => void; reject: (error: Error) => void } | undefined;
  #output: Buffer[] = [];
  /** The queries of the calls so far, to tell whose background task failed. */
  readonly #queries = new Map<number, string>();
  #late: Trace['warnings'] = [];

  readonly #what: string;

  constructor(file: string, exportName: string, env: Readonly<Record<string, string | undefined>>, what = 'the agent') {
    this.#what = what;
    this.loaded = new Promise((resolve) => {
      this.#isLoaded = resolve;
    });
    this.#worker = new Worker(new URL('./module-host.mjs', import.meta.url), {
      workerData: { file, exportName },
      env: env as NodeJS.ProcessEnv,
      stdout: true,
      stderr: true,
    });
    this.#worker.on('message', (reply: Reply) => this.#settle(reply));
    this.#worker.on('error', (error) => this.#gone(error.message));
    this.#worker.on('exit', (code) => this.#gone(`its thread ended with code ${code}`));
    for (const stream of [this.#worker.stdout, this.#worker.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output.push(chunk);
        let bytes = this.#output.reduce((sum, part) => sum + part.length, 0);
        while (bytes - this.#output[0]!.length >= MAX_PRINTED_BYTES) bytes -= this.#output.shift()!.length;
      });
    }
  }

  call(request: RunRequest): Promise<GivenValue> {
    const { signal, query, id, run, metadata, vars, turn } = request;
    this.#queries.set(this.#calls + 1, id);
    if (turn !== undefined)
      return this.#send({ query: turn.message, context: inputOf(request), hasState: true }, signal);
    return this.#send({ query, context: { id, run, metadata: metadata ?? {}, vars: vars ?? {} } }, signal);
  }

  /** The conversation is over: the next one starts with an empty object. */
  forgetState(): void {
    this.#worker.postMessage({ type: 'forget' });
  }

  /** Calls the function with these arguments. */
  async send(args: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    return (await this.#send({ args }, signal)).value;
  }

  /** Calls the function with what the message says: a query and its context, or the arguments themselves. */
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

  /** The agent's own time. What the first call of a thread took beyond it went into starting the thread and loading. */
  clock(waitedMs: number): Pick<RunOutput, 'wallMs' | 'coldStartMs'> {
    if (this.#ranMs === undefined) return { wallMs: waitedMs };
    return { wallMs: this.#ranMs, ...(this.#calls === 1 ? { coldStartMs: Math.max(0, waitedMs - this.#ranMs) } : {}) };
  }

  /** What failed in the background since it was last asked, after its query had its answer. */
  lateErrors(): Trace['warnings'] {
    const late = this.#late;
    this.#late = [];
    return late;
  }

  /** What the module printed during the last call; of a lot, the end. */
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
    if (reply.late || (reply.crashed && this.#pending === undefined)) this.onLate(reply.error?.message ?? '');
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
      classifyError(error, { prefix, stderr: [this.printed(), error.stack ?? ''].filter(Boolean).join('\n') }),
    );
  }

  #gone(why: string): void {
    if (!this.alive) return;
    this.alive = false;
    this.#isLoaded();
    this.onGone();
    this.#pending?.reject(new AgentError('agent', `${this.#what} stopped: ${why}`, { stderr: this.printed() }));
  }
}
