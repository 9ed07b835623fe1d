import type { Io } from '../cli/io.ts';
import { DEFAULT_SPEC } from '../stored-runs/spec-folders.ts';
import type { TestOptions } from './test-options.ts';

type Repeated = Pick<TestOptions, 'traces' | 'judge' | 'cassette' | 'cell' | 'queue' | 'strict'> & {
  readonly file: string;
};

/** The command that does again what was done, without a choice of queries; options that say which are added to it. */
export function repeatedCommand(
  { file, traces, judge, cassette, cell, queue, strict }: Repeated,
  { commandName, env }: { readonly commandName: string; readonly env: Io['env'] },
): string {
  // npx says so in the environment: the program itself may not be on the path.
  const words = [...(env.npm_command === 'exec' ? ['npx', 'agentci'] : ['agentci']), commandName];
  if (file !== DEFAULT_SPEC) words.push('-c', quote(file));
  if (traces !== undefined) words.push('--traces', quote(traces));
  if (judge !== undefined) words.push('--judge', judge);
  if (cassette !== undefined) {
    const { mode, dir } = cassette;
    words.push('--cassette', dir === undefined ? mode : quote(`${mode}=${dir}`));
  }
  for (const each of cell ?? []) words.push('--cell', quote(each));
  // Credentials are refused in an address, so there are none to show.
  if (queue !== undefined) words.push('--queue', quote(queue));
  if (strict === true) words.push('--strict');
  return words.join(' ');
}

/** The same of a stored run, from what was chosen when it was started. */
export function storedCommand(
  {
    spec,
    started_with: chosen = {},
  }: {
    readonly spec: { readonly file: string };
    readonly started_with?: Readonly<Record<string, unknown>>;
  },
  env: Io['env'],
): string {
  const { traces, strict } = chosen;
  const given = {
    traces: typeof traces === 'string' ? traces : undefined,
    strict: strict === true ? strict : undefined,
  };
  return repeatedCommand({ file: spec.file, ...given }, { commandName: 'test', env });
}

/** A word as a shell takes it. */
export const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) && !word.startsWith('-')
    ? word
    : `'${word.replaceAll("'", `'\\''`)}'`;
