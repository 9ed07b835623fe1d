import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { listRuns, type StoredRun } from '@agentci/run';
import { gitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';
import { DEFAULT_SPEC, isRunOfFile, runsRoot, specFolder } from './spec-folders.ts';

type RunTest = (run: StoredRun) => boolean;

/** Options that define the "latest" run. */
export interface LatestOptions {
  /** Accepts runs of one spec. */
  readonly isOurs?: RunTest;
  readonly spec?: string;
  /** The checked-out branch. Runs on other branches count only if it has none. */
  readonly branch?: string | undefined;
  /** Also accepts runs in progress and killed runs. */
  readonly withUnfinished?: boolean;
}

/** The run folder of the spec that a command is about, and its latest run. */
export interface SpecRuns {
  readonly folder: string;
  readonly root: string;
  readonly latest: LatestOptions;
}

/**
 * Uses the given spec, or else the default one. If neither exists, uses any spec in the folder.
 * Does not read the spec.
 */
export function specRuns(config: string | undefined, io: Io): SpecRuns {
  const folder = specFolder(config, io);
  const spec = config ?? (existsSync(resolve(io.cwd, DEFAULT_SPEC)) ? DEFAULT_SPEC : undefined);
  const isOurs: RunTest = (run) => spec === undefined || isRunOfFile(spec, run);
  return {
    folder,
    root: runsRoot(folder),
    latest: { isOurs, branch: gitState(folder, io).branch, spec },
  };
}

/**
 * Resolves the id of a stored run. "latest", or no name, is the newest finished one that matches.
 */
export function storedRunId(root: string, given = 'latest', options: LatestOptions = {}): string {
  if (given !== 'latest') return given;
  const found = latestRun(root, options);
  if (found !== undefined) return found.id;
  const { spec } = options;
  throw new UserError(
    'RUN_MISSING',
    `${spec === undefined ? 'nothing' : spec} has${spec === undefined ? '' : ' not'} been run here yet`,
    {
      hint: 'agentci test stores a run next to its spec. -c names the spec.',
    },
  );
}

/**
 * The newest run of a spec, by the time of the agent's run: on this branch if it has one, else on
 * any branch.
 */
export function latestRun(root: string, options: LatestOptions): StoredRun | undefined {
  const all = storedRuns(root, options);
  return all.find(isOn(options.branch)) ?? all[0];
}

/** The candidates for "latest" on any branch, newest first. */
export function storedRuns(
  root: string,
  { isOurs = () => true, withUnfinished = false }: LatestOptions,
): StoredRun[] {
  return listRuns(root).filter((run) => (withUnfinished || run.finished) && isOurs(run));
}

/**
 * Whether a run is on the branch. A run without a branch may be on any, so it does not match.
 * Without a branch name, every run matches.
 */
export const isOn =
  (branch: string | undefined): RunTest =>
  ({ header }) =>
    branch === undefined || header.branch === branch;
