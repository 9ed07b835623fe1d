import { gunzipSync } from 'node:zlib';
import { isGzip } from '@agentci/formats';

/** A recording with one part removed. */
export interface Removal {
  /** The path of the removed part, with indexes as `*`: `messages.*.tool_calls`. */
  readonly where: string;
  /** The exact path. */
  readonly at: string;
  readonly bytes: Uint8Array;
}

type Key = string | number;

/**
 * Yields every possible removal: each list element, and each member with a list, an object or JSON
 * text, at any depth, also inside such texts. Yields none for a file other than JSON, JSONL or an
 * event stream.
 */
export function* removalsIn(
  given: Uint8Array,
  choose: (paths: number) => (index: number) => boolean,
): Generator<Removal> {
  const file = documentOf(Buffer.from(isGzip(given) ? gunzipSync(given) : given).toString('utf8'));
  if (file === undefined) return;
  const paths: Key[][] = [];
  collect(file.value, [], paths, 0);
  const isChosen = choose(paths.length);
  for (const [i, path] of paths.entries()) {
    if (!isChosen(i)) continue;
    yield {
      where: path.map((key) => (typeof key === 'number' ? '*' : key)).join('.'),
      at: path.join('.'),
      bytes: Buffer.from(file.write(without(file.value, path))),
    };
  }
}

interface Document {
  readonly value: unknown;
  readonly write: (value: unknown) => string;
}

function documentOf(text: string): Document | undefined {
  const value = parsed(text);
  if (value !== undefined) return { value, write: (changed) => JSON.stringify(changed) };
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const values = lines.map((line) => parsed(line));
  if (lines.length > 0 && values.every((line) => line !== undefined))
    return {
      value: values,
      write: (changed) => (changed as unknown[]).map((line) => JSON.stringify(line)).join('\n'),
    };
  const events = text.split(/\n\n+/).filter((event) => /^(?:event|data):/.test(event));
  if (events.length < 2) return undefined;
  // Splits each event into the lines before its data, and the data.
  const split = events.map((event) => {
    const [, before = '', data = ''] = /^([\s\S]*?)data: ?(.*)$/.exec(event) ?? [];
    return [before, parsed(data) ?? data];
  });
  return {
    value: split,
    write: (changed) =>
      (changed as unknown[][])
        .filter((event) => event.length === 2)
        .map(
          ([before, data]) =>
            `${String(before)}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
        )
        .join(''),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MAX_DEPTH = 24;

function collect(value: unknown, path: Key[], into: Key[][], depth: number): void {
  const inner = typeof value === 'string' ? jsonIn(value) : value;
  if (typeof inner !== 'object' || inner === null || depth > MAX_DEPTH) return;
  for (const [name, item] of Object.entries(inner)) {
    const key: Key = Array.isArray(inner) ? Number(name) : name;
    const isPart =
      Array.isArray(inner) ||
      (typeof item === 'object' && item !== null) ||
      jsonIn(item) !== undefined;
    if (isPart) into.push([...path, key]);
    collect(item, [...path, key], into, depth + 1);
  }
}

function jsonIn(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return undefined;
  const inner = parsed(value);
  return typeof inner === 'object' && inner !== null ? inner : undefined;
}

function without(value: unknown, path: readonly Key[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (typeof value === 'string') return JSON.stringify(without(jsonIn(value), path));
  if (Array.isArray(value))
    return rest.length === 0
      ? value.toSpliced(Number(key), 1)
      : value.with(Number(key), without(value[Number(key)], rest));
  const { [key]: item, ...others } = value as Record<string, unknown>;
  if (rest.length === 0) return others;
  return { ...(value as Record<string, unknown>), [key]: without(item, rest) };
}
