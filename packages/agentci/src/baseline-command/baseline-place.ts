import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { SECRETS } from '@agentci/lib/secrets';
import { andMore, didYouMean } from '@agentci/lib/text';
import type { Query, Suite } from '@agentci/spec';
import { loadSpec } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import { DEFAULT_SPEC, specPath } from '../stored-runs/spec-folders.ts';

/** Beside the spec, where it names no other folder. */
export const DEFAULT_DIR = 'baselines';

export interface PlaceOptions {
  readonly config?: string;
  readonly agent?: string;
  readonly baselineDir?: string;
}

/** Which agent's baselines are meant, and where they are. */
export interface BaselinePlace {
  readonly suite: Suite;
  readonly dir: string;
}

/** The spec and its baselines. An `--agent` that is not the spec's is a mistake: its baselines would never be found again. */
export async function baselinePlace(options: PlaceOptions, io: Io): Promise<BaselinePlace> {
  const { suite } = await loadSpec(specPath(options.config ?? DEFAULT_SPEC, io.cwd));
  SECRETS.spare([suite.agent, suite.file, ...suite.queries.map(({ id }) => id)]);
  if (options.agent !== undefined && options.agent !== suite.agent) {
    throw new UserError(
      'AGENT_MISMATCH',
      `${suite.file} is the spec of agent "${suite.agent}", not "${options.agent}"`,
      {
        hint: 'Name the spec of that agent with -c.',
      },
    );
  }
  return { suite, dir: dirOf(options, io, suite) };
}

/** As `baselinePlace`, but looking is possible without a spec, and at other agents than the spec's. */
export async function baselinePlaceToRead(
  options: PlaceOptions,
  io: Io,
): Promise<{ readonly suite?: Suite; readonly dir: string }> {
  const isGuess = options.config === undefined;
  if (isGuess && !existsSync(resolve(io.cwd, DEFAULT_SPEC))) return { dir: dirOf(options, io) };
  const { suite } = await loadSpec(specPath(options.config ?? DEFAULT_SPEC, io.cwd));
  const dir = dirOf(options, io, suite);
  return options.agent === undefined || options.agent === suite.agent ? { suite, dir } : { dir };
}

/** Folders are named as the user would: from where the command was started. */
function dirOf(options: PlaceOptions, io: Io, suite?: Suite): string {
  const dir =
    options.baselineDir === undefined
      ? resolve(io.cwd, suite?.dir ?? '.', suite?.baselineDir ?? DEFAULT_DIR)
      : resolve(io.cwd, options.baselineDir);
  return specPath(dir, io.cwd) || '.';
}

/** The query with this id, or with exactly this text. */
export function queryNamed(suite: Suite, name: string): Query {
  const found =
    suite.queries.find((query) => query.id === name) ??
    suite.queries.find((query) => query.query === name);
  if (found) return found;
  const near = didYouMean(
    name,
    suite.queries.flatMap((query) => [query.id, query.query]),
  );
  throw new UserError('QUERY_UNKNOWN', `${suite.file} has no query "${name}"`, {
    hint:
      near === undefined
        ? `Its ids are: ${andMore([...new Set(suite.queries.map(({ id }) => id))], 5)}`
        : `Did you mean "${near}"?`,
  });
}
