import { locate, nodeAt, parseYaml } from '@agentci/lib/yaml';
import { codePlace, DISK, SpecFolder } from '@agentci/spec';

/** A location in a file, counted from 0. */
export interface Target {
  readonly file: string;
  readonly line: number;
  readonly character: number;
}

/** Keys whose value is a file next to the containing file. */
const FILE_KEYS = 'policy|rows|code|module|prompt|context_file|replay';
const NAMED = new RegExp(
  `(!include|["']?\\$ref["']?\\s*:|(?<![\\w-])(?:${FILE_KEYS})\\s*:)\\s*(?:"([^"]+)"|'([^']+)'|([^\\s,}\\]"'#][^\\s,}\\]"']*))`,
  'g',
);

/**
 * Finds the start of the file that a position refers to. Undefined without a reference, or if the
 * file is outside the folder.
 */
export function define(
  file: string,
  text: string,
  line: number,
  character: number,
): Target | undefined {
  const written = text.split(/\r\n|\r|\n/)[line] ?? '';
  for (const match of written.matchAll(NAMED)) {
    const [all, keyword, ...names] = match;
    if (character < match.index || character > match.index + all.length) continue;
    const name = names.find((one) => one !== undefined)!;
    return /^code|^module/.test(keyword!) ? inModule(file, name) : inYaml(file, text, name);
  }
  return undefined;
}

function inYaml(from: string, text: string, name: string): Target | undefined {
  const hash = name.indexOf('#');
  const path = hash < 0 ? name : name.slice(0, hash);
  const pointer = hash < 0 ? '' : name.slice(hash + 1);
  const file = path === '' ? from : fileBeside(from, path);
  if (file === undefined) return undefined;
  const start = { file, line: 0, character: 0 };
  if (pointer === '') return start;
  const content = path === '' ? text : DISK.readText(file);
  const { root } = content === undefined ? {} : parseYaml(content, { file, tags: ['!include'] });
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const node = root === undefined ? undefined : nodeAt(root, steps);
  if (node === undefined) return start;
  const place = locate(node.source, node.start);
  return { file, line: place.line - 1, character: place.column - 1 };
}

/** The line that exports the function, found without loading the module. */
function inModule(from: string, name: string): Target | undefined {
  const { file: path, exportName } = codePlace(name);
  const file = fileBeside(from, path);
  if (file === undefined) return undefined;
  const lines = (DISK.readText(file) ?? '').split(/\r\n|\r|\n/);
  const pattern =
    exportName === 'default'
      ? /^\s*export default\b/
      : new RegExp(`^\\s*export\\b.*\\b${escaped(exportName)}\\b`);
  return {
    file,
    line: Math.max(
      0,
      lines.findIndex((line) => pattern.test(line)),
    ),
    character: 0,
  };
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function fileBeside(from: string, path: string): string | undefined {
  const found = SpecFolder.of(from).find(path);
  return found.ok ? found.path : undefined;
}
