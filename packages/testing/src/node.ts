import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the workspace. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');

/**
 * Runs a program on Node and merges both outputs. A nested test runner does not detect the outer
 * one.
 */
export function node(
  args: readonly string[],
  cwd: string,
  extra: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; text: string }> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|NODE_TEST_CONTEXT|CI$|GITHUB_|FORCE_COLOR)/.test(name),
    ),
  );
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env: { ...env, NO_COLOR: '1', ...extra } });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        text += chunk;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, text }));
    child.stdin.end();
  });
}
