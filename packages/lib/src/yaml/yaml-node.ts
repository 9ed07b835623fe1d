import type { Location } from '../problems/diagnostic.ts';

/** A parsed text, with the name that the user knows. */
export interface YamlSource {
  readonly file: string;
  readonly text: string;
}

export type YamlScalarValue = null | boolean | number | string;

interface YamlNodeBase {
  readonly source: YamlSource;
  /** Offset of the value's first character, or of its tag. */
  readonly start: number;
  /** Only tags that the caller allows, such as `!include`. */
  readonly tag?: string;
}

export interface YamlScalar extends YamlNodeBase {
  readonly kind: 'scalar';
  readonly value: YamlScalarValue;
  readonly style: 'plain' | 'quoted' | 'block';
  /**
   * Placeholder for something already reported, such as an unknown alias. Readers must not report
   * it again.
   */
  readonly broken?: true;
  /** Text of a CSV cell, which is read as a number or list if its key needs one. */
  readonly isRowText?: true;
}

export interface YamlSeq extends YamlNodeBase {
  readonly kind: 'seq';
  readonly items: readonly YamlNode[];
}

export interface YamlEntry {
  readonly key: string;
  readonly keySource: YamlSource;
  readonly keyStart: number;
  readonly value: YamlNode;
}

/** A position in a text. */
export type YamlPlace = Pick<YamlNodeBase, 'source' | 'start'>;

/** Position of an entry's key. */
export const keyPlace = ({ keySource, keyStart }: YamlEntry): YamlPlace => ({
  source: keySource,
  start: keyStart,
});

export interface YamlMap extends YamlNodeBase {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, YamlEntry>;
}

/** A parsed value with its position. Aliases share one node, so the tree is an acyclic graph. */
export type YamlNode = YamlMap | YamlSeq | YamlScalar;

export type YamlPath = readonly (string | number)[];

const lineStarts = new WeakMap<YamlSource, readonly number[]>();

/** Line and column of an offset. The line table is built on first use. */
export function locate(source: YamlSource, offset: number): Location {
  const starts = startsOf(source);
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return { file: source.file, line: low + 1, column: offset - starts[low]! + 1 };
}

/** The text of one line, for the caret in a message. */
export function lineText(source: YamlSource, line: number): string {
  const starts = startsOf(source);
  return source.text
    .slice(starts[line - 1] ?? 0, starts[line] ?? source.text.length)
    .replace(/[\r\n]+$/, '');
}

function startsOf(source: YamlSource): readonly number[] {
  const known = lineStarts.get(source);
  if (known !== undefined) return known;
  const starts = [0];
  for (const match of source.text.matchAll(/\r\n|\n|\r/g))
    starts.push(match.index + match[0].length);
  lineStarts.set(source, starts);
  return starts;
}

/** The node at a path, or undefined if the text has no such value. */
export function nodeAt(root: YamlNode, path: YamlPath): YamlNode | undefined {
  let node: YamlNode | undefined = root;
  for (const step of path) {
    if (node?.kind === 'map') node = node.entries.get(String(step))?.value;
    else if (node?.kind === 'seq') node = node.items[Number(step)];
    else return undefined;
  }
  return node;
}

/** Location of the value or key at a path. Uses the closest existing parent of a missing value. */
export function locationAt(
  root: YamlNode,
  path: YamlPath,
  part: 'key' | 'value' = 'value',
): Location {
  const { source, start } = placeAt(root, path, part);
  return locate(source, start);
}

/** Like `locationAt`, before offsets become lines, so cheap enough for every value. */
export function placeAt(
  root: YamlNode,
  path: YamlPath,
  part: 'key' | 'value' = 'value',
): { source: YamlSource; start: number } {
  let node = root;
  let place: { source: YamlSource; start: number } = root;
  for (const [depth, step] of path.entries()) {
    if (node.kind === 'map') {
      const entry = node.entries.get(String(step));
      if (entry === undefined) return place;
      node = entry.value;
      const wantsKey = part === 'key' && depth === path.length - 1;
      place = wantsKey ? keyPlace(entry) : node;
    } else if (node.kind === 'seq') {
      const item = node.items[Number(step)];
      if (item === undefined) return place;
      node = item;
      place = node;
    } else return place;
  }
  return place;
}

/** The value without its positions. A key named `__proto__` becomes an ordinary own property. */
export function toPlain(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'seq') return node.items.map(toPlain);
  const object: Record<string, unknown> = {};
  for (const [key, entry] of node.entries) setOwn(object, key, toPlain(entry.value));
  return object;
}

/** Assigns without reaching the prototype. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else object[key] = value;
}
