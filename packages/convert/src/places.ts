import { duplicateKey, findJsonError, isDeeperThan, jsonParts } from '@agentci/lib/json';
import { UserError } from '@agentci/lib/problems';
import {
  locate,
  parseYaml,
  placeAt,
  setOwn,
  type YamlNode,
  type YamlPlace,
  type YamlSource,
} from '@agentci/lib/yaml';
import type { Place } from './model.ts';

const places = new WeakMap<object, Place>();

/** The place of a parsed list or map. Texts, numbers and created values get the fallback. */
export function placeOf(value: unknown, fallback: Place): Place {
  return (typeof value === 'object' && value !== null ? places.get(value) : undefined) ?? fallback;
}

/** The lines of list items that are texts or numbers, which have no place themselves. */
const itemLines = new WeakMap<object, readonly number[]>();

/** The place of a list item. */
export function placeOfItem(list: readonly unknown[], index: number, fallback: Place): Place {
  const own = placeOf(list, fallback);
  const line = itemLines.get(list)?.[index];
  return placeOf(list[index], line === undefined ? own : { ...own, line });
}

/** The nodes of values from `exactValue`. */
const nodes = new WeakMap<object, YamlNode>();

/** The node of a list or map, if it was made from one. */
export const nodeOf = (value: unknown): YamlNode | undefined =>
  typeof value === 'object' && value !== null ? nodes.get(value) : undefined;

/** The place of a map entry, or of the map if it is unknown. */
export function placeOfEntry(
  map: object,
  key: string,
  part: 'key' | 'value',
  fallback: Place,
): Place {
  const node = nodes.get(map);
  return node === undefined ? placeOf(map, fallback) : exactPlace(placeAt(node, [key], part));
}

/** The value of a node with exact places, for a suite that is run directly. */
export const exactValue = (root: YamlNode): unknown =>
  plain(root, new Map(), (value, node) => {
    nodes.set(value, node);
    places.set(value, exactPlace(node));
  });

function exactPlace({ source, start }: YamlPlace): Place {
  const { file, line } = locate(source, start);
  return { file, line, at: { source, start } };
}

/** Records the place of a value. */
export function placed<T extends object>(value: T, place: Place): T {
  places.set(value, place);
  return value;
}

const MAX_DEPTH = 100;

/** The value of a YAML text. Keeps the line of every list and map for `placeOf`. */
export function readYaml(text: string, file: string): unknown {
  const { root, diagnostics } = parseYaml(text, { file });
  const [first] = diagnostics;
  if (first !== undefined)
    throw new UserError(
      'CONVERT_UNREADABLE',
      `${file}:${first.line}:${first.column} ${first.message}`,
      {
        hint: first.hint ?? 'The file must be YAML that can be read without running anything.',
      },
    );
  return root === undefined ? null : plain(root, new Map(), notePlace);
}

function notePlace(value: object, node: YamlNode): void {
  places.set(value, { file: node.source.file, line: locate(node.source, node.start).line });
  if (node.kind === 'seq' && node.items.some(({ kind }) => kind === 'scalar'))
    itemLines.set(
      value,
      node.items.map((item) => locate(item.source, item.start).line),
    );
}

function plain(
  node: YamlNode,
  seen: Map<YamlNode, unknown>,
  note: (value: object, node: YamlNode) => void,
): unknown {
  if (node.kind === 'scalar') return node.value;
  const known = seen.get(node);
  // Aliases share one node. Sharing its value too keeps a text with many aliases small.
  if (known !== undefined) return known;
  const value: unknown[] | Record<string, unknown> = node.kind === 'seq' ? [] : {};
  seen.set(node, value);
  note(value, node);
  if (node.kind === 'seq')
    for (const item of node.items) (value as unknown[]).push(plain(item, seen, note));
  else
    for (const [key, entry] of node.entries)
      setOwn(value as Record<string, unknown>, key, plain(entry.value, seen, note));
  return value;
}

/** The value of a JSON text, with the line of every list and map. */
export function readJson(text: string, file: string): unknown {
  const clean = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const source: YamlSource = { file, text: clean };
  const refused = (offset: number, message: string): UserError => {
    const { line, column } = locate(source, offset);
    return new UserError('CONVERT_UNREADABLE', `${file}:${line}:${column} ${message}`, {
      hint: 'The file must be JSON.',
    });
  };
  if (isDeeperThan(clean, MAX_DEPTH))
    throw new UserError(
      'CONVERT_UNREADABLE',
      `${file} is nested more than ${MAX_DEPTH} levels deep`,
    );
  let value: unknown;
  try {
    value = JSON.parse(clean);
  } catch {
    const error = findJsonError(clean);
    throw refused(error?.offset ?? 0, error?.message ?? 'is not JSON');
  }
  const twice = duplicateKey(clean, value);
  if (twice !== undefined)
    throw refused(twice.offset, `the key "${twice.key.slice(0, 80)}" appears twice`);
  placeJson(value, source, 0);
  return value;
}

function placeJson(value: unknown, source: YamlSource, from: number): void {
  if (typeof value !== 'object' || value === null) return;
  places.set(value, { file: source.file, line: locate(source, from).line });
  let index = 0;
  for (const { start, key } of jsonParts(source.text, from)) {
    const inside = Array.isArray(value) ? value[index++] : (value as Record<string, unknown>)[key!];
    if (typeof inside === 'object' && inside !== null) placeJson(inside, source, start);
  }
}

/** The values of a JSONL text, each with its line. */
export function readJsonl(text: string, file: string): readonly unknown[] {
  const values: unknown[] = [];
  for (const [i, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue;
    const place = { file, line: i + 1 };
    let value: unknown;
    try {
      if (isDeeperThan(line, MAX_DEPTH)) throw new SyntaxError();
      value = JSON.parse(line);
    } catch {
      throw new UserError('CONVERT_UNREADABLE', `${file}:${i + 1} is not a line of JSON`, {
        hint: 'Every line must be one JSON value.',
      });
    }
    if (typeof value === 'object' && value !== null) places.set(value, place);
    values.push(value);
  }
  return values;
}
