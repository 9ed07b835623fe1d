import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '@agentci/lib/problems';
import type { RunnerConfig } from '@agentci/spec';
import { ModuleThread, startThread, threadEnv } from './module-thread.ts';
import {
  AgentError,
  type AgentWatch,
  type Runner,
  type RunnerEnvironment,
  type RunOutput,
  type RunRequest,
} from './runner.ts';
import { givenOutput } from './stream/given-value.ts';

/** A slower module is loaded while its query runs. */
const WARM_MS = 10_000;

type ModuleConfig = Extract<RunnerConfig, { kind: 'module' }>;

/**
 * Calls a function of the user's module, `(query, {id, run, metadata, vars, signal})`, in worker
 * threads. Each thread runs one query at a time and is reused, or replaced if it had to be ended.
 * In a conversation the function gets the newest message, and its second argument has the messages
 * so far and a state object.
 */
export const createModuleRunner = (config: ModuleConfig, around: RunnerEnvironment): Runner =>
  new ModuleRunner(config, around);

class ModuleRunner implements Runner {
  readonly #config: ModuleConfig;
  readonly #around: RunnerEnvironment;
  readonly #file: string;
  readonly #idle: ModuleThread[] = [];
  readonly #all = new Set<ModuleThread>();
  /**
   * A thread keeps its own, because its module may have read the environment when it was loaded.
   */
  readonly #agentWatches = new WeakMap<ModuleThread, AgentWatch>();
  #isClosed = false;

  constructor(config: ModuleConfig, around: RunnerEnvironment) {
    this.#config = config;
    this.#around = around;
    this.#file = resolve(around.dir, config.module);
    if (!existsSync(this.#file))
      throw new UserError(
        'SPEC_FILE_MISSING',
        `runner.module: there is no file "${config.module}"`,
        { hint: 'The path is relative to the spec.' },
      );
  }

  run = async (request: RunRequest): Promise<RunOutput> => {
    const host = await this.#take();
    try {
      return await this.#runOn(host, request);
    } finally {
      this.#giveBack(host);
    }
  };

  warm = async (): Promise<void> => {
    if (this.#idle.length > 0) return;
    const host = await this.#start().catch(() => undefined);
    if (host === undefined) return;
    const enough = new AbortController();
    await Promise.race([
      host.loaded,
      sleep(WARM_MS, undefined, { signal: enough.signal }).catch(() => {}),
    ]);
    enough.abort();
    this.#giveBack(host);
  };

  /** The turns of a conversation share a thread, because their state is in it. */
  open = async () => {
    const host = await this.#take();
    return {
      run: (request: RunRequest) => this.#runOn(host, request),
      close: async () => {
        host.forgetState();
        this.#giveBack(host);
      },
    };
  };

  close = async (): Promise<void> => {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((host) => host.end()));
  };

  async #start(): Promise<ModuleThread> {
    const { watch, env } = this.#around;
    // Without a capture there is nothing to wait for, so that closing the runner now finds the
    // thread.
    const agentWatch = watch === undefined ? undefined : await watch.open();
    if (this.#isClosed) {
      await agentWatch?.close();
      throw new AgentError('infra', 'the agent was stopped');
    }
    const worker = startThread(
      agentWatch === undefined ? threadEnv(this.#config, env) : agentWatch.env,
    );
    const host = new ModuleThread(worker, { file: this.#file, exportName: this.#config.export });
    this.#all.add(host);
    if (agentWatch !== undefined) this.#agentWatches.set(host, agentWatch);
    host.onGone = () => {
      this.#all.delete(host);
      void agentWatch?.close();
    };
    return host;
  }

  async #take(): Promise<ModuleThread> {
    return this.#idle.pop() ?? (await this.#start());
  }

  /** A thread that answered, even with an error, can be reused. One that had to be ended cannot. */
  #giveBack(host: ModuleThread): void {
    if (host.alive) this.#idle.push(host);
  }

  async #runOn(host: ModuleThread, request: RunRequest): Promise<RunOutput> {
    const agentWatch = this.#agentWatches.get(host);
    agentWatch?.begin(request);
    const started = performance.now();
    const given = await host.call(request);
    // After its timeout the agent may clean up, but an answer in that time is late.
    if (request.signal.aborted)
      throw new AgentError('infra', 'the agent answered after it was asked to stop');
    const waitedMs = performance.now() - started;
    // Background tasks of the agent may still call models. The thread is free when they are done.
    const seen = await agentWatch?.end('itself', host.begun);
    const clock = host.clock(waitedMs);
    const { acceptsErrors } = this.#config;
    const stderr = host.printed();
    const output = givenOutput(given, { acceptsErrors, stderr });
    const warnings = [...(output.warnings ?? []), ...host.lateErrors()];
    return {
      ...output,
      ...clock,
      stderr,
      acceptsErrors: acceptsErrors ? acceptsErrors : output.acceptsErrors,
      warnings: warnings.length === 0 ? output.warnings : warnings,
      seen: seen ?? output.seen,
    };
  }
}

/** Calls one function of a user's module with any arguments, in a thread that can be ended. */
export interface ModuleCaller {
  /** Rejects if the function throws, or if the signal aborts and the function does not return. */
  readonly call: (args: readonly unknown[], signal: AbortSignal) => Promise<unknown>;
  /** Background failures of calls that returned earlier. */
  readonly lateErrors: () => readonly string[];
  readonly close: () => Promise<void>;
}

/**
 * Creates a caller that starts its thread at the first call and replaces it if it had to be ended.
 * One call at a time.
 */
export function createModuleCaller(options: {
  readonly file: string;
  readonly exportName: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Name of the function in messages, such as `the metric`. */
  readonly what: string;
}): ModuleCaller {
  let host: ModuleThread | undefined;
  const late: string[] = [];
  return {
    call: (args, signal) => {
      if (host?.alive !== true) {
        host = new ModuleThread(startThread(options.env), options);
        host.onLate = (why) => late.push(why);
      }
      return host.send(args, signal);
    },
    lateErrors: () => late,
    close: async () => host?.end(),
  };
}
