import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { SECRETS } from '@agentci/lib/secrets';
import { andMore, didYouMean } from '@agentci/lib/text';
import type { Query, Suite } from '@agentci/spec';
import { loadSpec } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import { DEFAULT_SPEC, specPath } from '../stored-runs/spec-folders.ts';

/** Default folder for baselines, next to the spec. */
export const DEFAULT_DIR = 'baselines';

export interface PlaceOptions {
  readonly config?: string;
  readonly agent?: string;
  readonly baselineDir?: string;
}

/** The agent whose baselines are meant, and their folder. */
export interface BaselinePlace {
  readonly suite: Suite;
  readonly dir: string;
}

/**
 * Finds the spec and its baselines. An `--agent` that differs from the spec's is an error, because
 * its baselines would never be found again.
 */
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

/** Like `baselinePlace`, but also works without a spec and for other agents. */
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

/** Resolves folders from the working directory of the user. */
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
  throw new UserError('OPTION_INVALID', `${suite.file} has no query "${name}"`, {
    hint:
      near === undefined
        ? `Its ids are: ${andMore([...new Set(suite.queries.map(({ id }) => id))], 5)}`
        : `Did you mean "${near}"?`,
  });
}
