import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { findProgram } from '@agentci/lib/process';
import { listCassetteFiles } from '@agentci/run';
import type { Io } from '../cli/io.ts';
import type { AgentLanguage } from './agents.ts';
import type { InitPlan } from './files.ts';
import type { Project } from './project.ts';

/** Python for a Python project, or for an unknown project if Python is installed. */
export function languageOf({ language }: Project, python: string | undefined): AgentLanguage {
  if (language === 'python') return 'python';
  return language === undefined && python !== undefined ? 'python' : 'node';
}

export const pythonIn = (env: Io['env']): string | undefined =>
  ['python3', 'python'].find((name) => findProgram(name, { env, cwd: '.' }) !== undefined);

export function repositoryRoot(dir: string): string | undefined {
  if (existsSync(join(dir, '.git'))) return dir;
  return dirname(dir) === dir ? undefined : repositoryRoot(dirname(dir));
}

export function repositoryOf(dir: string): Pick<InitPlan, 'folder' | 'hasGitlab' | 'hasCassettes'> {
  const root = repositoryRoot(dir) ?? dir;
  return {
    folder: relative(root, dir).split(sep).join('/'),
    hasGitlab: existsSync(join(root, '.gitlab-ci.yml')),
    hasCassettes: listCassetteFiles(join(dir, 'cassettes')).length > 0,
  };
}
