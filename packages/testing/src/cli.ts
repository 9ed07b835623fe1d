import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const CLI = fileURLToPath(new URL('../../agentci/dist/cli.mjs', import.meta.url));

export interface CliOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Record<string, string | undefined>;
}

/** The test environment without variables that CI sets and the program reads. */
export function cleanEnv(rest: CliOptions['env'] = {}): Record<string, string | undefined> {
  const {
    CI: _,
    GITHUB_ACTIONS: __,
    GITHUB_STEP_SUMMARY: ___,
    GITHUB_WORKSPACE: ____,
    FORCE_COLOR: _____,
    ...env
  } = process.env;
  return { ...env, NO_COLOR: '1', ...rest };
}

/** Starts the built program in a process, like a user would. */
export function cliProcess(
  args: readonly string[],
  options: CliOptions & { input?: string },
): Promise<CliOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd: options.cwd,
      env: cleanEnv(options.env),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(options.input);
  });
}
