import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import type { StoredRun } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import type { Io } from '../cli/io.ts';

/*
 * One rule for where things are: what belongs to a spec is beside it, wherever the command is started. That is
 * `baseline_dir`, `.agentci/judge-cache` and `.agentci/runs`; a folder named on the command line is taken from the
 * working folder and wins.
 */

export const DEFAULT_SPEC = 'agentci_spec.yaml';

/** Where the runs of a spec in this folder are. */
export const runsRoot = (folder: string): string => join(folder, '.agentci', 'runs');

/** The folder a suite was read from. */
export const folderOf = (suite: Suite, io: Pick<Io, 'cwd'>): string => resolve(io.cwd, suite.dir);

/** Where the judge's stored verdicts are. */
export const judgeCacheOf = (
  folder: string,
  given: string | undefined,
  io: Pick<Io, 'cwd'>,
): string =>
  given === undefined ? join(folder, '.agentci', 'judge-cache') : resolve(io.cwd, given);

/** The folder of the spec a command means, without reading it: stored runs can be looked at when the spec is broken. */
export function specFolder(config: string | undefined, io: Pick<Io, 'cwd'>): string {
  const path = resolve(io.cwd, config ?? DEFAULT_SPEC);
  if (config !== undefined && !existsSync(path)) {
    throw new UserError('SPEC_NOT_FOUND', `-c: there is no file "${specPath(config, io.cwd)}"`, {
      hint: 'Stored runs are looked for beside the spec.',
    });
  }
  return dirname(path);
}

/** A run of this spec. Runs are kept beside their specs, so the name of the file and the agent tell them apart. */
export const isRunOf = (suite: Suite, { header }: StoredRun): boolean =>
  nameOf(header.spec.file) === nameOf(suite.file) && header.agent === suite.agent;

/** The same without reading the spec, which may be broken. */
export const isRunOfFile = (file: string, { header }: StoredRun): boolean =>
  nameOf(header.spec.file) === nameOf(file);

const nameOf = (file: string): string => file.split(/[\\/]/).at(-1)!;

/** One name for one file, however it was typed: relative to the working folder, with forward slashes. */
export function specPath(given: string, cwd: string): string {
  const path = relative(cwd, resolve(cwd, given)) || '.';
  return path.startsWith('..') && isAbsolute(given) ? given : path.split(sep).join('/');
}
