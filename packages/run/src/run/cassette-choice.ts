import { join, resolve } from 'node:path';
import type { CassetteConfig, CassetteMode, CassetteModeChoice } from '@agentci/capture';
import { present } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';

/** The cassette options of a command line. They override the spec. */
export interface CassetteChoice {
  readonly mode: CassetteModeChoice;
  readonly dir?: string;
}

/** The cassette settings of a run. */
export interface CassettePlan {
  readonly mode: CassetteMode;
  /** The folder, and its name in messages. */
  readonly dir: string;
  readonly shownDir: string;
  readonly ignore: readonly string[];
  readonly scrub: readonly string[];
  readonly errors: boolean;
  readonly repeatsLast: boolean;
}

const DEFAULT_DIR = 'cassettes';

/** Detects a build server. Recordings are not made there by default. */
export const isCi = (env: Readonly<Record<string, string | undefined>>): boolean =>
  env.CI !== undefined && !/^(?:|0|false|no)$/i.test(env.CI.trim());

/** The plan of a run. Undefined if neither the spec nor the command line uses cassettes. */
export function planCassettes(given: {
  readonly choice: CassetteChoice | undefined;
  readonly config: CassetteConfig | undefined;
  readonly specDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): CassettePlan | undefined {
  const { choice, config = {}, specDir, env } = given;
  if (choice === undefined && given.config === undefined) return undefined;
  const wanted = choice?.mode ?? config.mode ?? 'auto';
  if (wanted === 'off') return undefined;
  if (wanted === 'record' && choice === undefined && isCi(env))
    throw new UserError(
      'CASSETTE_CI',
      'the spec says "cassette: {mode: record}", and CI is set: nothing is recorded by accident',
      {
        hint: 'Remove the mode from the spec. To record here on purpose, use --cassette record.',
      },
    );
  const shownDir = choice?.dir ?? join(specDir, config.dir ?? DEFAULT_DIR);
  return {
    mode: wanted === 'auto' && isCi(env) ? 'replay' : wanted,
    dir: resolve(shownDir),
    shownDir,
    ignore: config.ignore ?? [],
    scrub: config.scrub ?? [],
    errors: config.errors ?? false,
    repeatsLast: config.repeat === 'last',
  };
}

/** Ids that differ only in case would share a file on Windows and macOS. */
export function refuseTwins(ids: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const id of ids) {
    const twin = seen.get(id.toLowerCase());
    if (twin !== undefined && twin !== id)
      throw new UserError(
        'SPEC_DUPLICATE',
        `the ids ${JSON.stringify(twin)} and ${JSON.stringify(id)} differ only in capitals, and some disks would give them one cassette`,
        { hint: 'Give one of them another id.' },
      );
    seen.set(id.toLowerCase(), id);
  }
}

const DEFAULT_SPEC = 'agentci_spec.yaml';

/**
 * The command that records one query again, with the spec, folder and repeats that the user gave.
 */
export function recordCommand(
  given: {
    readonly file: string;
    readonly runs?: number | undefined;
    readonly choice: CassetteChoice | undefined;
  },
  {
    id,
    cell = {},
  }: { readonly id: string; readonly cell?: Readonly<Record<string, string>> | undefined },
): string {
  const { file, runs, choice } = given;
  return present([
    'agentci test',
    file === DEFAULT_SPEC ? undefined : `-c ${shellWord(file)}`,
    runs === undefined ? undefined : `-n ${runs}`,
    `--cassette ${choice?.dir === undefined ? 'record' : shellWord(`record=${choice.dir}`)}`,
    `--ids ${shellWord(id)}`,
    ...Object.entries(cell).map(([name, value]) => `--cell ${shellWord(`${name}=${value}`)}`),
  ]).join(' ');
}

const shellWord = (text: string): string =>
  /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
