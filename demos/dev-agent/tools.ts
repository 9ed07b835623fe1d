import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const MAX_FILE_CHARS = 4000;
const LANGUAGES: Readonly<Record<string, string>> = {
  '.py': 'Python',
  '.ts': 'TypeScript',
  '.js': 'JavaScript',
};

/** A path below `repos`, or an error. Resolves links first, because they may lead outside. */
function inside(path: string): string {
  const full = join(here, path);
  if (!existsSync(full)) throw new Error(`there is no ${path}`);
  const real = realpathSync(full);
  const root = realpathSync(join(here, 'repos'));
  if (real !== root && !real.startsWith(root + sep))
    throw new Error(`${path} is outside of the repositories`);
  return real;
}

function metadata(repo: string): string {
  const root = inside(join('repos', repo));
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const counts = new Map<string, number>();
  for (const { name } of files) {
    const language = LANGUAGES[extname(name)];
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return JSON.stringify({ repo, files: files.length, languages: Object.fromEntries(counts) });
}

function listDir(path: string): string {
  return readdirSync(inside(path), { withFileTypes: true })
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort()
    .join('\n');
}

const readFile = (path: string): string =>
  readFileSync(inside(path), 'utf8').slice(0, MAX_FILE_CHARS);

/** Calls a tool by name. Errors are returned as text, so that the model can react. */
export function callTool(
  name: string,
  args: Readonly<Record<string, unknown>>,
): { result: string; error: string | null } {
  try {
    if (name === 'repo_metadata') return { result: metadata(String(args.repo)), error: null };
    if (name === 'list_dir') return { result: listDir(String(args.path)), error: null };
    if (name === 'read_file') return { result: readFile(String(args.path)), error: null };
    throw new Error(`unknown tool ${name}`);
  } catch (cause) {
    // Removes machine paths, because recordings are compared and baselines are stored.
    const error = (cause as Error).message.replaceAll(`${here}${sep}`, '');
    return { result: `error: ${error}`, error };
  }
}

const textParameter = (name: string) => ({
  type: 'object' as const,
  properties: { [name]: { type: 'string' } },
  required: [name],
  additionalProperties: false,
});

export const TOOLS = [
  {
    name: 'repo_metadata',
    description: 'Counts files and languages of a repository.',
    parameters: textParameter('repo'),
  },
  {
    name: 'list_dir',
    description: 'Lists a folder, e.g. repos/minimal.',
    parameters: textParameter('path'),
  },
  {
    name: 'read_file',
    description: 'Reads a file, e.g. repos/minimal/README.md.',
    parameters: textParameter('path'),
  },
].map((definition) => ({ type: 'function' as const, function: definition }));
