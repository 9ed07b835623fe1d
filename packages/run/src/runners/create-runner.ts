import { SECRETS, secretsIn } from '@agentci/lib/secrets';
import type { RunnerConfig } from '@agentci/spec';
import type { Runner, RunnerEnvironment } from './runner.ts';

/**
 * Creates the runner of a spec and loads its code on demand. `replay` is not a runner, because
 * recordings are read, not run.
 */
export async function createRunner(
  config: Exclude<RunnerConfig, { kind: 'replay' }>,
  around: RunnerEnvironment,
): Promise<Runner> {
  SECRETS.add(secretsIn(config.env ?? {}));
  switch (config.kind) {
    case 'module':
      return (await import('./module.ts')).createModuleRunner(config, around);
    case 'command':
      return config.mode === 'serve'
        ? (await import('./serve.ts')).createServeRunner(config, around)
        : (await import('./command.ts')).createCommandRunner(config, around);
    case 'http':
      return startHttp(config, around);
    case 'model':
      return (await import('./model.ts')).createModelRunner(config, around);
    default:
      throw new Error(`unhandled runner: ${JSON.stringify(config satisfies never)}`);
  }
}

/** An HTTP agent, with its server if the spec has a start command. */
async function startHttp(
  config: Extract<RunnerConfig, { kind: 'http' }>,
  around: RunnerEnvironment,
): Promise<Runner> {
  const { createHttpRunner } = await import('./http.ts');
  const runner = createHttpRunner(config, around);
  if (config.http.start === undefined) return runner;
  const { startServer } = await import('./http-server.ts');
  const { dir, onVoid } = around;
  const server = await startServer(config.http.start, {
    dir,
    env: { ...around.env, ...config.env },
    onVoid,
  });
  return {
    run: (request) => server.guard(request, () => runner.run(request)),
    open: async () => {
      const session = await runner.open!();
      return {
        run: (request) => server.guard(request, () => session.run(request)),
        close: session.close,
      };
    },
    close: async () => {
      await runner.close();
      await server.stop();
    },
  };
}
