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

/** A process in use, and where it is put back. */
interface Taken {
  readonly server: ServeProcess;
  readonly free: ServeProcess[];
}

/**
 * A program that stays up: one process for each worker, `{query, id, run, metadata, vars}` as a JSON line on its stdin, the
 * answer as one JSON line on its stdout. A process that crashed, hung or fell out of step is replaced for the next query.
 */
export function createServeRunner(
  config: Extract<RunnerConfig, { kind: 'command' }>,
  around: RunnerEnvironment,
): Runner {
  const cwd = resolve(around.dir, config.cwd ?? '.');
  const env = { ...around.env, ...config.env };
  const idle = new Map<string, ServeProcess[]>();
  const all = new Set<ServeProcess>();
  let isClosed = false;

  const start = async (command: readonly string[]): Promise<ServeProcess> => {
    const lookout = await around.watch?.open();
    if (isClosed) {
      await lookout?.close();
      throw new AgentError('infra', 'the agent was stopped');
    }
    const [program = '', ...args] = command;
    const given = lookout === undefined ? args : [...lookout.args, ...args];
    const options = { command: program, args: given, cwd, env: lookout?.env ?? env };
    const server = new ServeProcess(options, {
      name: program,
      lookout,
      onVoid: around.onVoid ?? (() => {}),
    });
    all.add(server);
    void server.gone.then(() => {
      all.delete(server);
      void lookout?.close();
    });
    return server;
  };

  /** A process that is free, and where it is put back. */
  const take = async (request: RunRequest, { isNew = false } = {}): Promise<Taken> => {
    // A program line with variables in it is another program for each of their values.
    const command = filledTexts(config.command, request);
    const free = idle.get(JSON.stringify(command)) ?? [];
    idle.set(JSON.stringify(command), free);
    let server = isNew ? undefined : free.pop();
    while (server !== undefined && !server.isFit) {
      await server.stop();
      server = free.pop();
    }
    return { server: server ?? (await start(command)), free };
  };
  const giveBack = async ({ server, free }: Taken): Promise<void> => {
    if (server.isFit) free.push(server);
    else await server.stop();
  };
  const runOn = async (server: ServeProcess, request: RunRequest): Promise<RunOutput> => {
    server.lookout?.begin(request);
    const started = performance.now();
    const { value, noise } = await server.ask(request);
    const wallMs = performance.now() - started;
    const seen = await server.lookout?.end('itself');
    const stderr = server.stderr();
    const { acceptsErrors } = config;
    try {
      refuseNoAnswer(value, { acceptsErrors, stderr });
    } catch (error) {
      // It may have been a line of log, with the answer still to come.
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
  };

  /** A process that falls after it answered another query proves nothing against this one, which is asked of a new process. */
  const runFirst = async (
    request: RunRequest,
    onTaken: (taken: Taken) => void,
  ): Promise<RunOutput> => {
    let fallen: Fallen | undefined;
    for (;;) {
      const taken = await take(request, { isNew: fallen !== undefined });
      onTaken(taken);
      try {
        const output = await runOn(taken.server, request);
        fallen?.blamePrevious();
        return output;
      } catch (error) {
        if (!(error instanceof Fallen) || !error.hadAnswered || request.signal.aborted) throw error;
        fallen = error;
        await giveBack(taken);
      }
    }
  };

  return {
    run: async (request) => {
      let taken: Taken | undefined;
      try {
        return await runFirst(request, (now) => {
          taken = now;
        });
      } finally {
        if (taken !== undefined) await giveBack(taken);
      }
    },
    // One process for all turns of a conversation: it may remember what was said.
    open: async () => {
      let taken: Taken | undefined;
      return {
        run: (request) =>
          taken === undefined
            ? runFirst(request, (now) => {
                taken = now;
              })
            : runOn(taken.server, request),
        close: async () => {
          if (taken !== undefined) await giveBack(taken);
        },
      };
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...all].map((server) => server.retire()));
    },
  };
}

const MAX_NOISE = 80;

function noiseWarning(noise: readonly string[]): Trace['warnings'][number] {
  const shown = JSON.stringify(noise[0]!.trim().slice(0, MAX_NOISE));
  const lines = noise.length === 1 ? '1 line' : `${noise.length} lines`;
  return { code: 'OUTPUT_NOISE', message: `${lines} printed before the answer, ignored: ${shown}` };
}
