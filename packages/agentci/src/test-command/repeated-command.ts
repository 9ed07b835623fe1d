import type { Io } from '../cli/io.ts';
import { DEFAULT_SPEC } from '../stored-runs/spec-folders.ts';
import type { TestOptions } from './test-options.ts';

type Repeated = Pick<TestOptions, 'traces' | 'judge' | 'cassette' | 'cell' | 'queue' | 'strict'> & {
  readonly file: string;
};

/** The command to repeat a run, without its selection of queries. The caller adds that. */
export function repeatedCommand(
  { file, traces, judge, cassette, cell, queue, strict }: Repeated,
  { commandName, env }: { readonly commandName: string; readonly env: Io['env'] },
): string {
  // npx sets this variable. The program may not be on the PATH.
  const words = [...(env.npm_command === 'exec' ? ['npx', 'agentci'] : ['agentci']), commandName];
  if (file !== DEFAULT_SPEC) words.push('-c', quote(file));
  if (traces !== undefined) words.push('--traces', quote(traces));
  if (judge !== undefined) words.push('--judge', judge);
  if (cassette !== undefined) {
    const { mode, dir } = cassette;
    words.push('--cassette', dir === undefined ? mode : quote(`${mode}=${dir}`));
  }
  for (const each of cell ?? []) words.push('--cell', quote(each));
  // Addresses with credentials are rejected earlier, so there are none to show.
  if (queue !== undefined) words.push('--queue', quote(queue));
  if (strict === true) words.push('--strict');
  return words.join(' ');
}

/** Like `repeatedCommand`, built from the options stored with a run. */
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

/** Quotes a word for a shell. */
export const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) && !word.startsWith('-')
    ? word
    : `'${word.replaceAll("'", `'\\''`)}'`;
