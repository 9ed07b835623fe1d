import { statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { readCsv } from '@agentci/lib/csv';
import { isObject } from '@agentci/lib/data';
import { duplicateKey, findJsonError, isDeeperThan, jsonParts } from '@agentci/lib/json';
import {
  parseYaml,
  setOwn,
  toPlain,
  type YamlNode,
  type YamlPlace,
  type YamlSource,
} from '@agentci/lib/yaml';
import { realPath, type SpecFolder } from './files.ts';
import type { SpecProblems } from './problems.ts';
import { variableNameProblem } from './variables.ts';

/** The data of one query: its variables with their places. */
export interface Row {
  readonly vars: Readonly<Record<string, unknown>>;
  readonly place: YamlPlace;
  /** The place of a variable's value. Default: the place of the row. */
  readonly placeOf: (name: string) => YamlPlace;
}

/** A source of rows. */
export interface Rows {
  /** In CSV every value is text. The key that uses it decides how to read it. */
  readonly isText: boolean;
  /** The text of the file, for the hash of the spec. Absent if the rows are in the spec itself. */
  readonly text?: string;
  /** The place of the column's name, if it has one. */
  readonly headerOf?: (name: string) => YamlPlace | undefined;
  /** Each row once, in order. Reports and skips invalid ones. */
  readonly read: () => Iterable<Row>;
}

const MAX_FILE_BYTES = 200_000_000;
const MAX_CELL = 1_000_000;
const MAX_DEPTH = 100;
const FORMATS = 'CSV (.csv), JSONL (.jsonl, .ndjson), JSON (.json) and YAML (.yaml, .yml)';

/** Reads `rows:`, a file or a list. Undefined after reporting an error. */
export function openRows(
  node: YamlNode,
  folder: SpecFolder,
  problems: SpecProblems,
): Rows | undefined {
  if (node.kind === 'seq') return { isText: false, read: () => rowsOfNodes(node.items, problems) };
  if (node.kind !== 'scalar' || typeof node.value !== 'string') return undefined;
  const source = readSource(node.value, node, folder, problems);
  if (source === undefined) return undefined;
  const { text } = source;
  const extension = /\.([a-z]+)$/i.exec(node.value)?.[1]?.toLowerCase();
  switch (extension) {
    case 'csv': {
      const header = new Map<string, YamlPlace>();
      const read = () => rowsOfCsv(source, header, problems);
      return { isText: true, text, read, headerOf: (name) => header.get(name) };
    }
    case 'jsonl':
    case 'ndjson':
      return { isText: false, text, read: () => rowsOfLines(source, problems) };
    case 'json':
      return { isText: false, text, read: () => rowsOfJson(source, problems) };
    default:
      return { isText: false, text, read: () => rowsOfYaml(source, problems) };
  }
}

/** The file, which must be in the folder of the spec with links resolved. */
function readSource(
  path: string,
  node: YamlNode,
  folder: SpecFolder,
  problems: SpecProblems,
): YamlSource | undefined {
  const fail = (code: string, message: string, hint: string): undefined => {
    problems.add(node, { code, message, hint });
    return undefined;
  };
  if (!/\.(csv|jsonl|ndjson|json|ya?ml)$/i.test(path))
    return fail('SPEC_ROWS', `rows cannot be read from "${path}"`, `rows are read from ${FORMATS}`);
  const from = dirname(realPath(node.source.file, folder.files));
  const found = folder.find(path, from);
  if (!found.ok)
    return found.isOutside
      ? fail(
          'SPEC_FILE_OUTSIDE',
          `"${path}" lies outside the folder of the spec`,
          'move the file below the spec',
        )
      : fail(
          'SPEC_FILE_MISSING',
          `the file "${path}" does not exist`,
          'paths start at the folder of the file they are written in',
        );
  const size = statSync(found.path, { throwIfNoEntry: false })?.size ?? 0;
  const text = folder.files.readText(found.path, MAX_FILE_BYTES);
  if (text === undefined)
    return fail(
      'SPEC_FILE_MISSING',
      `"${path}" is not a file that can be read as UTF-8 text of at most ${MAX_FILE_BYTES / 1_000_000} MB`,
      size > MAX_FILE_BYTES ? 'split it over several queries' : 'save the file as UTF-8',
    );
  const file = join(dirname(node.source.file), relative(from, resolve(from, path)));
  return {
    file: file.replaceAll(sep, '/'),
    text: text.startsWith('\uFEFF') ? text.slice(1) : text,
  };
}

function* rowsOfCsv(
  source: YamlSource,
  header: Map<string, YamlPlace>,
  problems: SpecProblems,
): Generator<Row> {
  const records = readCsv(source.text);
  const report = (start: number, message: string, hint: string, code = 'SPEC_ROWS'): void =>
    problems.add({ source, start }, { code, message, hint });
  let names: readonly string[] | undefined;
  for (const record of records) {
    if (!('cells' in record)) {
      report(record.start, record.message, record.hint);
      // Without a header the rows have no meaning.
      if (names === undefined) return;
      continue;
    }
    const { cells, starts } = record;
    if (names === undefined) {
      names = cells.map((name) => name.trim());
      if (!isHeader(names, starts, report)) return;
      for (const [i, name] of names.entries()) header.set(name, { source, start: starts[i]! });
      continue;
    }
    if (cells.length !== names.length) {
      const start = cells.length > names.length ? starts[names.length]! : starts[0]!;
      const hint = 'a cell with a comma in it needs quotes around it';
      report(
        start,
        `this row has ${cells.length} cells, the header ${names.length}`,
        hint,
        'SPEC_ROWS',
      );
      continue;
    }
    const large = cells.findIndex((cell) => cell.length > MAX_CELL);
    if (large !== -1) {
      report(
        starts[large]!,
        `a cell of more than ${MAX_CELL} characters`,
        'is a quote left open?',
        'SPEC_TOO_LARGE',
      );
      continue;
    }
    yield new CsvRow(source, names, cells, starts);
  }
}

class CsvRow implements Row {
  readonly vars: Readonly<Record<string, unknown>>;
  readonly #source: YamlSource;
  readonly #names: readonly string[];
  readonly #starts: readonly number[];

  constructor(
    source: YamlSource,
    names: readonly string[],
    cells: readonly string[],
    starts: readonly number[],
  ) {
    const vars: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) setOwn(vars, names[i]!, cells[i]!);
    this.vars = vars;
    this.#source = source;
    this.#names = names;
    this.#starts = starts;
  }

  get place(): YamlPlace {
    return { source: this.#source, start: this.#starts[0]! };
  }

  placeOf = (name: string): YamlPlace => {
    const at = this.#names.indexOf(name);
    return { source: this.#source, start: this.#starts[at === -1 ? 0 : at]! };
  };
}

function isHeader(
  names: readonly string[],
  starts: readonly number[],
  report: (start: number, message: string, hint: string) => void,
): boolean {
  for (const [i, name] of names.entries()) {
    const wrong =
      names.indexOf(name) < i
        ? `the column "${name}" is there twice`
        : variableNameProblem(name, 'a column');
    if (wrong === undefined) continue;
    report(starts[i]!, wrong, 'the first line names the columns, each once');
    return false;
  }
  return true;
}

function* rowsOfNodes(items: readonly YamlNode[], problems: SpecProblems): Generator<Row> {
  for (const item of items) {
    if (item.kind === 'scalar' && item.broken === true) continue;
    if (item.kind !== 'map') {
      problems.add(item, NOT_A_MAP);
      continue;
    }
    const vars = toPlain(item) as Record<string, unknown>;
    if (!areNames(Object.keys(vars), (name) => item.entries.get(name)!.value, problems)) continue;
    yield { vars, place: item, placeOf: (name) => item.entries.get(name)?.value ?? item };
  }
}

const NOT_A_MAP = {
  code: 'SPEC_ROWS',
  message: 'each row must be a map of variables and their values',
  hint: 'for example: {city: Paris, answer: "2.1 million"}',
};

function areNames(
  names: readonly string[],
  placeOf: (name: string) => YamlPlace,
  problems: SpecProblems,
): boolean {
  const bad = names.find((name) => variableNameProblem(name, 'a variable') !== undefined);
  if (bad === undefined) return true;
  const message = variableNameProblem(bad, 'a variable')!;
  problems.add(placeOf(bad), { code: 'SPEC_ROWS', message });
  return false;
}

function* rowsOfYaml(source: YamlSource, problems: SpecProblems): Generator<Row> {
  const { root, diagnostics } = parseYaml(source.text, { file: source.file });
  problems.addAll(diagnostics);
  if (root === undefined || (root.kind === 'scalar' && root.broken === true)) return;
  if (root.kind === 'seq') yield* rowsOfNodes(root.items, problems);
  else problems.add(root, NOT_A_LIST);
}

const NOT_A_LIST = {
  code: 'SPEC_ROWS',
  message: 'rows are a list of maps',
  hint: 'start each row with a dash',
};

function* rowsOfLines(source: YamlSource, problems: SpecProblems): Generator<Row> {
  const { text } = source;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end === -1 ? text.length : end);
    if (line.trim() !== '') {
      const row = rowOfJson(source, start, line, problems);
      if (row !== undefined) yield row;
    }
    start = end === -1 ? text.length : end + 1;
  }
}

function* rowsOfJson(source: YamlSource, problems: SpecProblems): Generator<Row> {
  const { text } = source;
  const wrong = findJsonError(text);
  if (wrong !== undefined) {
    problems.add(
      { source, start: Math.min(wrong.offset, Math.max(text.length - 1, 0)) },
      notJson(wrong.message),
    );
    return;
  }
  if (!text.trimStart().startsWith('[')) {
    problems.add(
      { source, start: 0 },
      { ...NOT_A_LIST, hint: 'put the rows into brackets: [{…}, {…}]' },
    );
    return;
  }
  for (const { start, end } of jsonParts(text)) {
    const row = rowOfJson(source, start, text.slice(start, end), problems);
    if (row !== undefined) yield row;
  }
}

const notJson = (message: string) => ({
  code: 'SPEC_ROWS',
  message: `this is not JSON: ${message}`,
});

function rowOfJson(
  source: YamlSource,
  start: number,
  text: string,
  problems: SpecProblems,
): Row | undefined {
  const place: YamlPlace = { source, start };
  if (isDeeperThan(text, MAX_DEPTH)) {
    problems.add(place, {
      code: 'SPEC_TOO_LARGE',
      message: `a row that nests deeper than ${MAX_DEPTH} levels`,
    });
    return undefined;
  }
  let vars: unknown;
  try {
    vars = JSON.parse(text);
  } catch {
    const wrong = findJsonError(text);
    const offset = Math.min(wrong?.offset ?? 0, Math.max(text.length - 1, 0));
    problems.add({ source, start: start + offset }, notJson(wrong?.message ?? 'it cannot be read'));
    return undefined;
  }
  if (!isObject(vars)) {
    problems.add(place, NOT_A_MAP);
    return undefined;
  }
  const twice = duplicateKey(text, vars);
  if (twice !== undefined) {
    problems.add(
      { source, start: start + twice.offset },
      { code: 'SPEC_ROWS', message: `duplicate key "${twice.key}"` },
    );
    return undefined;
  }
  const placeOf = (name: string): YamlPlace => {
    for (const part of jsonParts(source.text, start))
      if (part.key === name) return { source, start: part.start };
    return place;
  };
  return areNames(Object.keys(vars), placeOf, problems) ? { vars, place, placeOf } : undefined;
}
