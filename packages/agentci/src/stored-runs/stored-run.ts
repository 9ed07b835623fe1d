import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { listRuns, type StoredRun } from '@agentci/run';
import { gitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';
import { DEFAULT_SPEC, isRunOfFile, runsRoot, specFolder } from './spec-folders.ts';

type RunTest = (run: StoredRun) => boolean;

/** Which run "latest" is. */
export interface LatestOptions {
  /** Of one spec. */
  readonly isOurs?: RunTest;
  readonly spec?: string;
  /** What is checked out: runs on other branches count only where there is none on this one. */
  readonly branch?: string | undefined;
  /** A run in progress, or one that was killed, counts as well. */
  readonly withUnfinished?: boolean;
}

/** Where the runs of the spec are that a command is about, and which of them is its latest. */
export interface SpecRuns {
  readonly folder: string;
  readonly root: string;
  readonly latest: LatestOptions;
}

/** Of the spec that is named, or else of the usual one; where neither is there, of any in the folder. The spec is not read. */
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

/** The id of a stored run as someone names it: "latest", or no name at all, is the newest finished one that fits. */
export function storedRunId(root: string, given = 'latest', options: LatestOptions = {}): string {
  if (given !== 'latest') return given;
  const found = latestRun(root, options);
  if (found !== undefined) return found.id;
  const { spec } = options;
  throw new UserError(
    'RUN_MISSING',
    `${spec === undefined ? 'nothing' : spec} has${spec === undefined ? '' : ' not'} been run here yet`,
    {
      hint: 'agentci test stores a run beside its spec; -c names the spec.',
    },
  );
}

/** The newest run of a spec, by when the agent ran: on this branch where there is one, else on any branch. */
export function latestRun(root: string, options: LatestOptions): StoredRun | undefined {
  const all = storedRuns(root, options);
  return all.find(isOn(options.branch)) ?? all[0];
}

/** The runs that "latest" may be, the newest first, on whatever branch. */
export function storedRuns(
  root: string,
  { isOurs = () => true, withUnfinished = false }: LatestOptions,
): StoredRun[] {
  return listRuns(root).filter((run) => (withUnfinished || run.finished) && isOurs(run));
}

/** On a branch that is named: a run that does not say its own may be of any other. Without a name, every run is. */
export const isOn =
  (branch: string | undefined): RunTest =>
  ({ header }) =>
    branch === undefined || header.branch === branch;
