import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import type { StoredRun } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import type { Io } from '../cli/io.ts';

/*
 * The rule for locations: files of a spec are next to it, wherever the command is started. This
 * covers `baseline_dir`, `.agentci/judge-cache` and `.agentci/runs`. A folder on the command line
 * is relative to the working directory and takes precedence.
 */

export const DEFAULT_SPEC = 'agentci_spec.yaml';

/** Folder of the runs for a spec in this folder. */
export const runsRoot = (folder: string): string => join(folder, '.agentci', 'runs');

/** Folder of the spec file. */
export const folderOf = (suite: Suite, io: Pick<Io, 'cwd'>): string => resolve(io.cwd, suite.dir);

/** Folder of the judge's stored verdicts. */
export const judgeCacheOf = (
  folder: string,
  given: string | undefined,
  io: Pick<Io, 'cwd'>,
): string =>
  given === undefined ? join(folder, '.agentci', 'judge-cache') : resolve(io.cwd, given);

/**
 * The folder of a command's spec, without reading it, so that stored runs can be shown if the spec
 * is broken.
 */
export function specFolder(config: string | undefined, io: Pick<Io, 'cwd'>): string {
  const path = resolve(io.cwd, config ?? DEFAULT_SPEC);
  if (config !== undefined && !existsSync(path)) {
    throw new UserError('SPEC_NOT_FOUND', `-c: no file "${specPath(config, io.cwd)}"`, {
      hint: 'Stored runs are next to the spec.',
    });
  }
  return dirname(path);
}

/**
 * Whether a run belongs to this spec. Runs are stored next to their specs, so file name and agent
 * are enough.
 */
export const isRunOf = (suite: Suite, { header }: StoredRun): boolean =>
  nameOf(header.spec.file) === nameOf(suite.file) && header.agent === suite.agent;

/** Like `isRunOf`, but does not read the spec, which may be broken. */
export const isRunOfFile = (file: string, { header }: StoredRun): boolean =>
  nameOf(header.spec.file) === nameOf(file);

const nameOf = (file: string): string => file.split(/[\\/]/).at(-1)!;

/** The canonical name of a file: relative to the working directory, with forward slashes. */
export function specPath(given: string, cwd: string): string {
  const path = relative(cwd, resolve(cwd, given)) || '.';
  return path.startsWith('..') && isAbsolute(given) ? given : path.split(sep).join('/');
}
