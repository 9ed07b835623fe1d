import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { appendFile, makeFolder, writeFile } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { andMore } from '@agentci/lib/text';
import type { Io } from '../cli/io.ts';
import type { Starter } from './files.ts';

export const RUNS = '.agentci/runs/';

export const MATRIX_RUNS = 'agents/*/.agentci/runs/';

export const CAPTURES = '.agentci/captures/';

/** Reports whether the spec uses an agent that existed before. */
export function writeStarter({ files, agents }: Starter, io: Io): boolean {
  let hasOwnAgent = false;
  for (const [path, text] of Object.entries(files)) {
    const target = join(io.cwd, path);
    if (agents.includes(path) && existsSync(target)) {
      hasOwnAgent ||= readFileSync(target, 'utf8') !== text;
      io.stdout.write(`kept ${path}\n`);
      continue;
    }
    makeFolder(dirname(target));
    writeFile(target, text);
    io.stdout.write(`wrote ${path}\n`);
  }
  return hasOwnAgent;
}

/**
 * Drops existing files. An existing spec belongs to the user, so only the CI job is new. If nothing
 * is new, nothing is written. Rejects folders in place of a file, even with --force.
 */
export function withoutExisting(
  starter: Starter,
  force: boolean,
  io: Io,
): Starter & { readonly keepsSpec: boolean } {
  const isThere = (path: string): boolean => existsSync(join(io.cwd, path));
  const folders = Object.keys(starter.files).filter((path) =>
    statSync(join(io.cwd, path), { throwIfNoEntry: false })?.isDirectory(),
  );
  if (folders.length > 0)
    throw new UserError(
      'FILE_IS_FOLDER',
      `${andMore(folders, 5)}: there is a folder of that name; nothing was written`,
      {
        hint: 'Move it away, or start in another folder.',
      },
    );
  if (force) return { ...starter, keepsSpec: false };
  const existing = Object.keys(starter.files).filter(
    (path) => !starter.agents.includes(path) && isThere(path),
  );
  if (existing.length === 0) return { ...starter, keepsSpec: false };
  const keepsSpec = starter.specs.some(isThere);
  const jobs = starter.jobs.filter((path) => !isThere(path));
  if (!keepsSpec || jobs.length === 0)
    throw new UserError(
      'FILE_EXISTS',
      `${andMore(existing, 5)} ${existing.length === 1 ? 'exists' : 'exist'} already; nothing was written`,
      { hint: `--force writes over ${existing.length === 1 ? 'it' : 'them'}.` },
    );
  for (const spec of starter.specs.filter(isThere))
    io.stdout.write(`kept ${spec} (--force writes over it)\n`);
  return {
    ...starter,
    files: Object.fromEntries(jobs.map((path) => [path, starter.files[path]!])),
    agents: [],
    specs: starter.specs.filter(isThere),
    keepsSpec,
  };
}

/** Ignores only runs. Verdicts of the judge and baselines are meant to be committed. */
export function ignoreRuns(pattern: string, io: Io): boolean {
  const path = join(io.cwd, '.gitignore');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (text.split('\n').some((line) => line.trim() === pattern)) return false;
  appendFile(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${pattern}\n`);
  return true;
}
