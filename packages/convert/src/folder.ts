import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { parseCsv } from '@agentci/lib/csv';
import { UserError } from '@agentci/lib/problems';
import { compileGlob, isGlob } from '@agentci/lib/regex';
import { placed, readJson, readJsonl, readYaml } from './places.ts';

export const MAX_FILE_BYTES = 50_000_000;
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 16;
const PASSED_OVER = new Set([
  'node_modules',
  '.git',
  '.agentci',
  '__pycache__',
  '.venv',
  'venv',
  'dist',
]);

/** One file of a suite: its path, its name in reports, and its content, parsed once on demand. */
export class SourceFile {
  readonly path: string;
  /** Relative to the working directory, as the user knows it. */
  readonly name: string;
  readonly folder: SourceFolder;
  #text: string | undefined;
  #value: { readonly value: unknown } | undefined;

  constructor(path: string, name: string, folder: SourceFolder) {
    this.path = path;
    this.name = name;
    this.folder = folder;
  }

  get extension(): string {
    return extname(this.path).toLowerCase();
  }

  get base(): string {
    return basename(this.path);
  }

  get text(): string {
    this.#text ??= readText(this.path, this.name);
    return this.#text;
  }

  /**
   * The content by file extension: JSON and YAML as values, JSONL and CSV as lists, other files as
   * text.
   */
  get value(): unknown {
    this.#value ??= { value: this.#read() };
    return this.#value.value;
  }

  #read(): unknown {
    switch (this.extension) {
      case '.json':
        return readJson(this.text, this.name);
      case '.jsonl':
      case '.ndjson':
        return readJsonl(this.text, this.name);
      case '.yaml':
      case '.yml':
        return readYaml(this.text, this.name);
      case '.csv':
        return readRows(this.text, this.name);
      default:
        return this.text;
    }
  }

  /** Another file, by a path relative to this one. */
  beside(path: string): SourceFile {
    return this.folder.file(
      resolve(dirname(this.path), path),
      `${this.name} names "${path}", which`,
    );
  }

  /** The files that match a path with wildcards, sorted. */
  matching(pattern: string): readonly SourceFile[] {
    if (!isGlob(pattern)) return [this.beside(pattern)];
    const whole = resolve(dirname(this.path), pattern);
    const fixed = whole.split(sep).findIndex((part) => isGlob(part));
    const start = whole.split(sep).slice(0, fixed).join(sep) || sep;
    this.folder.file(start, `${this.name} names "${pattern}", which`, true);
    const rest = whole.split(sep).slice(fixed);
    return this.folder
      .walk(start)
      .filter(({ path }) => matchesParts(relative(start, path).split(sep), rest))
      .sort((a, b) => Number(a.path > b.path) - Number(a.path < b.path));
  }
}

function matchesParts(parts: readonly string[], pattern: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return parts.length === 0;
  if (first === '**')
    return matchesParts(parts, rest) || (parts.length > 0 && matchesParts(parts.slice(1), pattern));
  return parts.length > 0 && compileGlob(first)(parts[0]!) && matchesParts(parts.slice(1), rest);
}

/** The folder that a suite may read. Opens nothing outside of it, with links resolved. */
export class SourceFolder {
  readonly root: string;
  readonly #cwd: string;
  readonly #files = new Map<string, SourceFile>();

  constructor(root: string, cwd: string) {
    this.root = realpathSync(root);
    this.#cwd = cwd;
  }

  file(path: string, who: string, isFolder = false): SourceFile {
    const outside = (): UserError =>
      new UserError('CONVERT_OUTSIDE', `${who} is outside the folder that is converted`, {
        hint: 'Give the folder that holds both: agentci convert FOLDER.',
      });
    // Rejected before the file is looked up, so that the error does not reveal which files exist
    // outside.
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    if (!isInside(this.root, path) && !isInside(this.root, parentReal(path))) throw outside();
    let real: string;
    try {
      real = realpathSync(path);
    } catch {
      throw new UserError('CONVERT_UNREADABLE', `${who} does not exist`, {
        hint: 'Is the path right?',
      });
    }
    if (!isInside(this.root, real)) throw outside();
    const found = statSync(real);
    if (isFolder ? !found.isDirectory() : !found.isFile())
      throw new UserError('CONVERT_UNREADABLE', `${who} is not a ${isFolder ? 'folder' : 'file'}`);
    const shown = relative(this.#cwd, path);
    const made = new SourceFile(
      real,
      (shown.startsWith('..') ? path : shown).split(sep).join('/'),
      this,
    );
    this.#files.set(path, made);
    return made;
  }

  /** Every file below a folder, without links. */
  walk(from: string = this.root): SourceFile[] {
    const found: SourceFile[] = [];
    let seen = 0;
    const visit = (dir: string, depth: number): void => {
      for (const entry of readdirSync(dir, { withFileTypes: true }).sort(
        (a, b) => Number(a.name > b.name) - 0.5,
      )) {
        if (++seen > MAX_ENTRIES)
          throw new UserError('FILE_TOO_LARGE', `the folder has more than ${MAX_ENTRIES} files`, {
            hint: 'Name the files of the suite instead.',
          });
        const path = join(dir, entry.name);
        if (entry.isDirectory()) {
          if (depth < MAX_DEPTH && !PASSED_OVER.has(entry.name)) visit(path, depth + 1);
        } else if (entry.isFile()) found.push(this.file(path, path));
      }
    };
    visit(from, 0);
    return found;
  }
}

function isInside(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside === '' || (!inside.startsWith('..') && !isAbsolute(inside));
}

/**
 * The path with the links of its folder resolved, if that exists, because the folder may have been
 * given through a link.
 */
function parentReal(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

function readText(path: string, name: string): string {
  const { size } = statSync(path);
  if (size > MAX_FILE_BYTES)
    throw new UserError(
      'FILE_TOO_LARGE',
      `${name} has ${Math.round(size / 1e6)} MB; at most ${MAX_FILE_BYTES / 1e6} MB are read`,
      { hint: 'Split the file.' },
    );
  const bytes = readFileSync(path);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UserError('CONVERT_UNREADABLE', `${name} is not UTF-8 text`, {
      hint: 'Save it as UTF-8.',
    });
  }
}

/** The rows of a CSV text as maps from column to text, each with its line. */
function readRows(text: string, file: string): readonly Record<string, string>[] {
  const { rows, unclosed } = parseCsv(text);
  if (unclosed !== undefined)
    throw new UserError(
      'CONVERT_UNREADABLE',
      `${file}:${unclosed} opens a quote that is never closed`,
    );
  const [head, ...body] = rows;
  const names = head?.cells.map((name) => name.trim()) ?? [];
  const twice = names.find((name, i) => name !== '' && names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new UserError(
      'CONVERT_UNREADABLE',
      `${file}:${head!.line} has two columns named "${twice}"`,
    );
  return body.map(({ line, cells }) => {
    if (cells.length > names.length)
      throw new UserError(
        'CONVERT_UNREADABLE',
        `${file}:${line} has ${cells.length} cells, and the header has ${names.length}`,
      );
    const row: Record<string, string> = Object.create(null) as Record<string, string>;
    for (const [i, name] of names.entries()) if (name !== '') row[name] = cells[i] ?? '';
    return placed(row, { file, line });
  });
}
