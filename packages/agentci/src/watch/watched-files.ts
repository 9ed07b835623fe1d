import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Suite } from '@agentci/spec';

/**
 * Relation of a file to the run: the agent itself, a file next to it that may be part of it, a
 * recording, or a file named in the spec.
 */
export type Role = 'agent' | 'beside' | 'traces' | 'named';

const MAX_FILES = 5000;
const MAX_TEXT_BYTES = 2_000_000;
const SKIPPED = new Set([
  'node_modules',
  '.git',
  '.agentci',
  '__pycache__',
  '.venv',
  'venv',
  'dist',
  'baselines',
]);
const SOURCE = /\.(?:[cm]?[jt]sx?|json|py|rb|go|rs|java|kt|php|sh|md|txt|ya?ml|toml)$/;

/**
 * Absolute paths of the files that can affect the run. Read again each time, because files come and
 * go.
 */
export function watchedFiles(
  specFile: string,
  suite: Suite | undefined,
  traces: string | undefined,
): Map<string, Role> {
  const files = new Map<string, Role>();
  const add = (path: string, role: Role): void => {
    if (files.size < MAX_FILES && !files.has(path)) files.set(path, role);
  };
  addNamed(specFile, add);
  if (suite !== undefined)
    addAgent(suite, (path, role) => (role === 'agent' ? files.set(path, role) : add(path, role)));
  const recordings =
    traces ??
    (suite?.runner?.kind === 'replay' ? resolve(suite.dir, suite.runner.replay) : undefined);
  if (recordings !== undefined)
    for (const path of filesUnder(recordings, /./)) files.set(path, 'traces');
  return files;
}

/**
 * The spec, and every file below its folder that it references directly or indirectly: includes,
 * rows, policies, prompts.
 */
function addNamed(specFile: string, add: (path: string, role: Role) => void): void {
  const open = [resolve(specFile)];
  const seen = new Set<string>();
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file) || seen.size > MAX_FILES) continue;
    seen.add(file);
    add(file, 'named');
    // Paths in data files are not references.
    if (!/\.ya?ml$/.test(file)) continue;
    for (const [word] of textOf(file).matchAll(/[\w@~./\\-]+\.\w+/g)) {
      const path = resolve(dirname(file), word);
      if (isFile(path)) open.push(path);
    }
  }
}

function addAgent({ runner, dir }: Suite, add: (path: string, role: Role) => void): void {
  if (runner?.kind === 'module')
    for (const path of importsOf(resolve(dir, runner.module))) add(path, 'agent');
  if (runner?.kind !== 'command') return;
  const cwd = resolve(dir, runner.cwd ?? '.');
  for (const word of runner.command) {
    const script = resolve(cwd, word);
    if (!isFile(script)) continue;
    add(script, 'agent');
    // A program's dependencies are unknown, so any source next to it may be part of it.
    if (script.startsWith(resolve(dir)))
      for (const path of filesUnder(dirname(script), SOURCE)) add(path, 'beside');
  }
}

const IMPORT = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g;
const ENDINGS = [
  '',
  '.ts',
  '.mts',
  '.js',
  '.mjs',
  '.cjs',
  '.tsx',
  '.jsx',
  '.json',
  '/index.ts',
  '/index.js',
  '/index.mjs',
];

/** A module and its transitive relative imports. */
export function importsOf(entry: string): readonly string[] {
  const found = new Set<string>();
  const open = [entry];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file) || found.size > MAX_FILES) continue;
    found.add(file);
    for (const [, path] of textOf(file).matchAll(IMPORT)) {
      const wanted = resolve(dirname(file), path!);
      // TypeScript imports may name the compiled file.
      const names = [
        ...ENDINGS.map((ending) => wanted + ending),
        wanted.replace(/\.([cm]?)js$/, '.$1ts'),
      ];
      const real = names.find(isFile);
      if (real !== undefined) open.push(real);
    }
  }
  return [...found];
}

function filesUnder(
  path: string,
  wanted: RegExp,
  found: string[] = [],
  depth = 0,
): readonly string[] {
  if (isFile(path)) return [...found, path];
  let entries: string[];
  try {
    entries = readdirSync(path);
  } catch {
    return found;
  }
  for (const name of entries) {
    if (SKIPPED.has(name) || found.length >= MAX_FILES || depth > 8) continue;
    const child = join(path, name);
    const stat = statSync(child, { throwIfNoEntry: false });
    if (stat?.isDirectory()) filesUnder(child, wanted, found, depth + 1);
    else if (stat?.isFile() && wanted.test(name)) found.push(child);
  }
  return found;
}

const isFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true;

function textOf(path: string): string {
  try {
    return statSync(path).size > MAX_TEXT_BYTES ? '' : readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Size and time of each file, to detect changes. */
export function stateOf(files: Iterable<string>): Map<string, string> {
  const state = new Map<string, string>();
  for (const path of files) {
    const stat = statSync(path, { throwIfNoEntry: false });
    state.set(path, stat === undefined ? 'gone' : `${stat.size}@${stat.mtimeMs}`);
  }
  return state;
}

/** Changed, new and deleted files. */
export function changedBetween(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const changed = [...after]
    .filter(([path, state]) => before.get(path) !== state)
    .map(([path]) => path);
  return [...changed, ...[...before.keys()].filter((path) => !after.has(path))];
}
