import { resolve } from 'node:path';
import type { Trace } from '../trace/model.ts';
import { MAX_OUTPUT_BYTES } from './command.ts';
import type { RunnerConfig } from './config.ts';
import { filledTexts } from './fill-texts.ts';
import {
  AgentError,
  inputOf,
  type Lookout,
  type Runner,
  type RunnerEnvironment,
  type RunOutput,
  type RunRequest,
  refuseNoAnswer,
} from './runner.ts';
import { type LineReply, ServeLines } from './serve-lines.ts';
import { StandingProcess } from './standing-process.ts';
import { reasonIn } from './stderr-reason.ts';

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
  const idle = new Map<string, Server[]>();
  const all = new Set<Server>();
  let isClosed = false;

  const start = async (command: readonly string[]): Promise<Server> => {
    const lookout = await around.watch?.open();
    if (isClosed) {
      await lookout?.close();
      throw new AgentError('infra', 'the agent was stopped');
    }
    const [program = '', ...args] = command;
    const given = lookout === undefined ? args : [...lookout.args, ...args];
    const server = new Server({ command: program, args: given, cwd, env: lookout?.env ?? env }, lookout);
    all.add(server);
    void server.gone.then(() => {
      all.delete(server);
      void lookout?.close();
    });
    return server;
  };

  /** A process that is free, and where it is put back. */
  const take = async (request: RunRequest): Promise<{ server: Server; free: Server[] }> => {
    // A program line with variables in it is another program for each of their values.
    const command = filledTexts(config.command, request);
    const free = idle.get(JSON.stringify(command)) ?? [];
    idle.set(JSON.stringify(command), free);
    let server = free.pop();
    while (server !== undefined && !server.isFit) {
      await server.stop();
      server = free.pop();
    }
    return { server: server ?? (await start(command)), free };
  };
  const giveBack = async ({ server, free }: { server: Server; free: Server[] }): Promise<void> => {
    if (server.isFit) free.push(server);
    else await server.stop();
  };
  const runOn = async (server: Server, request: RunRequest): Promise<RunOutput> => {
    server.lookout?.begin(request);
    const started = performance.now();
    const { value, noise } = await server.ask(request, config.command[0]!);
    const wallMs = performance.now() - started;
    const seen = await server.lookout?.end('itself');
    const stderr = server.stderr();
    const { acceptsErrors } = config;
    refuseNoAnswer(value, { acceptsErrors, stderr });
    return {
      value,
      wallMs,
      stderr,
      ...(acceptsErrors ? { acceptsErrors } : {}),
      ...(noise.length === 0 ? {} : { warnings: [noiseWarning(noise)] }),
      ...(seen === undefined ? {} : { seen }),
    };
  };

  return {
    run: async (request) => {
      const taken = await take(request);
      try {
        return await runOn(taken.server, request);
      } finally {
        await giveBack(taken);
      }
    },
    // One process for all turns of a conversation: it may remember what was said.
    open: async () => {
      let taken: Awaited<ReturnType<typeof take>> | undefined;
      return {
        run: async (request) => {
          taken ??= await take(request);
          return runOn(taken.server, request);
        },
        close: async () => {
          if (taken !== undefined) await giveBack(taken);
        },
      };
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...all].map((server) => server.stop()));
    },
  };
}

const MAX_NOISE = 80;

function noiseWarning(noise: readonly string[]): Trace['warnings'][number] {
  const shown = JSON.stringify(noise[0]!.trim().slice(0, MAX_NOISE));
  const lines = noise.length === 1 ? '1 line' : `${noise.length} lines`;
  return { code: 'OUTPUT_NOISE', message: `${lines} printed before the answer, ignored: ${shown}` };
}

/** One process that answers one query at a time. */
class Server {
  readonly lookout: Lookout | undefined;
  readonly gone: Promise<unknown>;
  readonly #process: StandingProcess;
  readonly #lines: ServeLines;

  constructor(options: ConstructorParameters<typeof StandingProcess>[0], lookout: Lookout | undefined) {
    this.lookout = lookout;
    this.#lines = new ServeLines(MAX_OUTPUT_BYTES);
    this.#process = new StandingProcess(options, (chunk) => this.#lines.add(chunk));
    this.gone = this.#process.ended;
  }

  /** It runs, and what it printed last was the answer to what it was asked last. */
  get isFit(): boolean {
    return this.#process.isAlive && !this.#process.hasExited && !this.#lines.isOutOfStep;
  }

  stderr(): string {
    return this.#process.stderr();
  }

  stop(): Promise<unknown> {
    return this.#process.stop();
  }

  async ask(request: RunRequest, name: string): Promise<LineReply & { ok: true }> {
    const { signal, id } = request;
    this.#process.clearStderr();
    const reply = this.#lines.next(id);
    this.#process.write(`${JSON.stringify(inputOf(request))}\n`);
    let onAbort: (() => void) | undefined;
    const aborted = new Promise<'aborted'>((resolveAbort) => {
      onAbort = () => resolveAbort('aborted');
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      const first = await Promise.race([reply, this.#process.ended.then(() => 'ended' as const), aborted]);
      // An answer that is in the pipe when the process ends is still its answer.
      const outcome = first === 'ended' ? (this.#lines.given() ?? first) : first;
      if (outcome === 'ended') {
        const { how, stderr } = this.#process.end!;
        throw new AgentError('agent', `"${name}" ${how}${reasonIn(stderr)}`, { stderr });
      }
      if (outcome === 'aborted') {
        await this.#process.kill();
        throw new AgentError('infra', 'stopped', { stderr: this.stderr() });
      }
      if (outcome.ok) return outcome;
      await this.#process.kill();
      throw new AgentError('agent', `"${name}" ${outcome.why}`, { stderr: this.stderr() });
    } finally {
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
    }
  }
}
