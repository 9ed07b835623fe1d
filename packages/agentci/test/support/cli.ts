import { existsSync } from 'node:fs';
import { SECRETS } from '@agentci/lib/secrets';
import { type CliOptions, type CliOutcome, cleanEnv, cliProcess } from '@agentci/testing/cli';
import { main } from '../../src/cli/main.ts';
import { VERSION } from '../../src/cli/version.gen.ts';

const home = process.cwd();
/** Commands whose child processes inherit the stdio of this process. */
const STREAMING: ReadonlySet<string | undefined> = new Set(['capture', 'guard', 'tap']);
const running = new Set<symbol>();

/**
 * Runs a command line in this process if it can, through the same entry point as `bin.ts`. Starting
 * the program takes ten times as long. `cliProcess` is for tests of signals, stdin, modules that
 * exit the process, and the start itself.
 */
export async function cli(args: readonly string[], options: CliOptions): Promise<CliOutcome> {
  const { cwd, env } = options;
  if (STREAMING.has(args[0]) || env?.NODE_OPTIONS !== undefined) return cliProcess(args, options);
  const run = enter(cwd);
  const written = { stdout: '', stderr: '' };
  const output = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
    isTerminal: false,
    columns: 100,
  });
  try {
    const code = await main(args, {
      stdout: output('stdout'),
      stderr: output('stderr'),
      env: cleanEnv(env),
      cwd: process.cwd(),
      signal: new AbortController().signal,
      now: Date.now,
      random: Math.random,
      version: VERSION,
    });
    return { code, ...written };
  } finally {
    if (running.delete(run) && running.size === 0) process.chdir(home);
  }
}

/**
 * A process has one working directory and one set of secrets, so concurrent commands must share
 * both.
 */
function enter(cwd: string): symbol {
  const before = process.cwd();
  // The folder of a test that timed out was removed. Its command may never end, so it is ignored.
  if (!existsSync(before)) running.clear();
  process.chdir(cwd);
  if (running.size === 0) SECRETS.clear();
  else if (process.cwd() !== before) {
    process.chdir(before);
    throw new Error('commands in different folders cannot run at the same time: use cliProcess');
  }
  const run = Symbol(cwd);
  running.add(run);
  return run;
}
