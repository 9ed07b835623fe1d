import { withDeadline } from '@agentci/lib/net';
import { UserError } from '@agentci/lib/problems';
import { AgentError, type RunAbout, type RunnerEnvironment } from './runner.ts';
import { StandingProcess } from './standing-process.ts';
import { reasonIn } from './stderr-reason.ts';

/** Time limit for the first response of a server. */
const READY_MS = 60_000;
const POLL_MS = 50;
const PROBE_MS = 2000;

/** A server that runs as long as the run. */
export interface RunServer {
  /** Runs an action on it. Fails after it has ended. */
  readonly guard: <T>(about: RunAbout, work: () => Promise<T>) => Promise<T>;
  readonly stop: () => Promise<void>;
}

/** Starts the server of an agent and waits until it answers. */
export async function startServer(
  { command, ready }: { readonly command: readonly string[]; readonly ready: string },
  {
    dir,
    env,
    readyMs = READY_MS,
    onVoid,
  }: {
    readonly dir: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly readyMs?: number;
    readonly onVoid?: RunnerEnvironment['onVoid'];
  },
): Promise<RunServer> {
  if (await answers(ready))
    throw new UserError(
      'PORT_TAKEN',
      `runner.http: something already answers at ${ready}, so the server was not started`,
      {
        hint: 'Stop the program on that port, use another port, or remove "start" to ask the running server.',
      },
    );
  const [program = '', ...args] = command;
  const server = new StandingProcess({ command: program, args, cwd: dir, env }, () => {});
  await untilReady(server, { program, ready, readyMs });
  return guarded(server, program, onVoid);
}

/** Waits until the server answers. */
async function untilReady(
  server: StandingProcess,
  {
    program,
    ready,
    readyMs,
  }: { readonly program: string; readonly ready: string; readonly readyMs: number },
): Promise<void> {
  const until = performance.now() + readyMs;
  while (server.isAlive && !(await answers(ready))) {
    if (performance.now() > until) {
      const { stderr } = await server.stop();
      throw new UserError(
        'RUNNER_NOT_READY',
        `runner.http: ${ready} did not answer within ${readyMs / 1000} s of starting "${program}"${reasonIn(stderr)}`,
        {
          hint: 'Does the server listen on this address? Its log goes to stderr.',
        },
      );
    }
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
  if (server.end !== undefined)
    throw new UserError(
      'RUNNER_NOT_READY',
      `runner.http: "${program}" ${server.end.how} before ${ready} answered${reasonIn(server.end.stderr)}`,
      {
        hint: 'The server has to run until it is stopped.',
      },
    );
}

/** Wraps the server to report its end to the runs it breaks. */
function guarded(
  server: StandingProcess,
  program: string,
  onVoid: RunnerEnvironment['onVoid'],
): RunServer {
  let last: RunAbout | undefined;
  let isTold = false;
  const refuse = (): void => {
    if (server.end === undefined) return;
    isTold = true;
    const { how, stderr } = server.end;
    const after = last === undefined ? '' : ` after it had answered "${last.id}"`;
    throw new AgentError('agent', `the server "${program}" ${how}${after}${reasonIn(stderr)}`, {
      stderr,
    });
  };
  return {
    guard: async (about, work) => {
      refuse();
      try {
        const done = await work();
        last = about;
        return done;
      } catch (error) {
        // The connection breaks a moment before the exit reason is known.
        if (error instanceof AgentError && error.kind === 'infra') {
          await Promise.race([
            server.ended,
            new Promise((resolve) => setTimeout(resolve, POLL_MS)),
          ]);
          refuse();
        }
        throw error;
      }
    },
    stop: async () => {
      await server.lastMoment();
      const { isByItself, how, stderr } = await server.stop();
      if (isByItself && !isTold && last !== undefined)
        onVoid?.(last, `the server "${program}" ${how} after its last answer${reasonIn(stderr)}`);
    },
  };
}

/** Any response except a server error shows that it is up. */
async function answers(url: string): Promise<boolean> {
  try {
    return await withDeadline({ ms: PROBE_MS }, async ({ signal }) => {
      const response = await fetch(url, { redirect: 'manual', signal });
      await response.body?.cancel();
      return response.status < 500;
    });
  } catch {
    return false;
  }
}
