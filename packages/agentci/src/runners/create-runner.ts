import { SECRETS, secretsIn } from '../kit/secrets.ts';
import type { RunnerConfig } from './config.ts';
import type { Runner, RunnerEnvironment } from './runner.ts';

/** Makes the runner a spec asks for; its code is loaded only now. `replay` is not a runner: recordings are read, not run. */
export async function createRunner(
  config: Exclude<RunnerConfig, { kind: 'replay' }>,
  around: RunnerEnvironment,
): Promise<Runner> {
  SECRETS.add(secretsIn(config.env ?? {}));
  switch (config.kind) {
    case 'module':
      return (await import('./module.ts')).createModuleRunner(config, around);
    case 'command':
      return (await import('./command.ts')).createCommandRunner(config, around);
    case 'http':
      return (await import('./http.ts')).createHttpRunner(config, around);
    default:
      throw new Error(`unhandled runner: ${JSON.stringify(config satisfies never)}`);
  }
}
