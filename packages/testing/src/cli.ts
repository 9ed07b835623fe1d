import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const CLI = fileURLToPath(new URL('../../agentci/dist/cli.mjs', import.meta.url));

export interface CliOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program as a user would. The environment is clean of CI's own variables unless a test sets them. */
export function cli(
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string | undefined>; input?: string },
): Promise<CliOutcome> {
  return new Promise((resolve, reject) => {
    const {
      CI: _,
      GITHUB_ACTIONS: __,
      GITHUB_STEP_SUMMARY: ___,
      GITHUB_WORKSPACE: ____,
      FORCE_COLOR: _____,
      ...env
    } = process.env;
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd: options.cwd,
      env: { ...env, NO_COLOR: '1', ...options.env },
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
