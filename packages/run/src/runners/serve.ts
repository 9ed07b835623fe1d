import { resolve } from 'node:path';
import type { RunnerConfig } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { filledTexts } from './fill-texts.ts';
import {
  AgentError,
  type Runner,
  type RunnerEnvironment,
  type RunOutput,
  type RunRequest,
  refuseNoAnswer,
} from './runner.ts';
import { Fallen, ServeProcess } from './serve-process.ts';

/** A process in use, and the pool it returns to. */
interface Taken {
  readonly server: ServeProcess;
  readonly free: ServeProcess[];
}

type ServeConfig = Extract<RunnerConfig, { kind: 'command' }>;

/**
 * A persistent program: one process for each worker, `{query, id, run, metadata, vars}` as a JSON
 * line on its stdin, the answer as one JSON line on its stdout. A process that crashed, hung or
 * fell out of step is replaced for the next query.
 */
export const createServeRunner = (config: ServeConfig, around: RunnerEnvironment): Runner =>
  new ServeRunner(config, around);

class ServeRunner implements Runner {
  readonly #config: ServeConfig;
  readonly #around: RunnerEnvironment;
  readonly #idle = new Map<string, ServeProcess[]>();
  readonly #all = new Set<ServeProcess>();
  #isClosed = false;

  constructor(config: ServeConfig, around: RunnerEnvironment) {
    this.#config = config;
    this.#around = around;
  }

  run = async (request: RunRequest): Promise<RunOutput> => {
    let taken: Taken | undefined;
    try {
      return await this.#runFirst(request, (now) => {
        taken = now;
      });
    } finally {
      if (taken !== undefined) await this.#giveBack(taken);
    }
  };

  /** One process for all turns of a conversation, because it may keep state. */
  open = async () => {
    let taken: Taken | undefined;
    return {
      run: (request: RunRequest) =>
        taken === undefined
          ? this.#runFirst(request, (now) => {
              taken = now;
            })
          : this.#runOn(taken.server, request),
      close: async () => {
        if (taken !== undefined) await this.#giveBack(taken);
      },
    };
  };

  close = async (): Promise<void> => {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((server) => server.retire()));
  };

  async #start([program = '', ...args]: readonly string[]): Promise<ServeProcess> {
    const { dir, env, watch, onVoid = () => {} } = this.#around;
    const agentWatch = await watch?.open();
    if (this.#isClosed) {
      await agentWatch?.close();
      throw new AgentError('infra', 'the agent was stopped');
    }
    const options = {
      command: program,
      args: agentWatch === undefined ? args : [...agentWatch.args, ...args],
      cwd: resolve(dir, this.#config.cwd ?? '.'),
      env: agentWatch?.env ?? { ...env, ...this.#config.env },
    };
    const server = new ServeProcess(options, { name: program, agentWatch, onVoid });
    this.#all.add(server);
    void server.gone.then(() => {
      this.#all.delete(server);
      void agentWatch?.close();
    });
    return server;
  }

  /** A free process, and the pool it returns to. */
  async #take(request: RunRequest, { isNew }: { readonly isNew: boolean }): Promise<Taken> {
    // A command with variables is a different program for each of their values.
    const command = filledTexts(this.#config.command, request);
    const free = this.#idle.get(JSON.stringify(command)) ?? [];
    this.#idle.set(JSON.stringify(command), free);
    let server = isNew ? undefined : free.pop();
    while (server !== undefined && !server.isFit) {
      await server.stop();
      server = free.pop();
    }
    return { server: server ?? (await this.#start(command)), free };
  }

  async #giveBack({ server, free }: Taken): Promise<void> {
    if (server.isFit) free.push(server);
    else await server.stop();
  }

  async #runOn(server: ServeProcess, request: RunRequest): Promise<RunOutput> {
    server.agentWatch?.begin(request);
    const started = performance.now();
    const { value, noise } = await server.ask(request);
    const wallMs = performance.now() - started;
    const seen = await server.agentWatch?.end('itself');
    const stderr = server.stderr();
    const { acceptsErrors } = this.#config;
    try {
      refuseNoAnswer(value, { acceptsErrors, stderr });
    } catch (error) {
      // It may have been a log line, with the answer still to come.
      server.distrust();
      throw error;
    }
    return {
      value,
      wallMs,
      stderr,
      acceptsErrors: acceptsErrors || undefined,
      warnings: noise.length !== 0 ? [noiseWarning(noise)] : undefined,
      seen,
    };
  }

  /**
   * A crash after an answer to another query proves nothing about this one, so it is retried in a
   * new process.
   */
  async #runFirst(request: RunRequest, onTaken: (taken: Taken) => void): Promise<RunOutput> {
    let fallen: Fallen | undefined;
    for (;;) {
      const taken = await this.#take(request, { isNew: fallen !== undefined });
      onTaken(taken);
      try {
        const output = await this.#runOn(taken.server, request);
        fallen?.blamePrevious();
        return output;
      } catch (error) {
        if (!(error instanceof Fallen) || !error.hadAnswered || request.signal.aborted) throw error;
        fallen = error;
        await this.#giveBack(taken);
      }
    }
  }
}

const MAX_NOISE = 80;

function noiseWarning(noise: readonly string[]): Trace['warnings'][number] {
  const shown = JSON.stringify(noise[0]!.trim().slice(0, MAX_NOISE));
  const lines = noise.length === 1 ? '1 line' : `${noise.length} lines`;
  return { code: 'OUTPUT_NOISE', message: `${lines} printed before the answer, ignored: ${shown}` };
}
