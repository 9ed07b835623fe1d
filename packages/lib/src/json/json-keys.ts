import { isDeeperThan, MAX_JSON_DEPTH } from './json-limits.ts';

const QUOTE = 34;
const BACKSLASH = 92;

/**
 * Finds a duplicate key in a JSON text. `value` is the parsed text. A count rules out nearly all
 * texts quickly: a duplicate key occurs more often in the text than in the value.
 */
export function duplicateKeyIn(
  text: string,
  value: unknown,
): { readonly key: string; readonly offset: number } | undefined {
  const isCountable = !text.includes('\\\\"');
  return isCountable && keysInText(text) === keysInValue(value)
    ? undefined
    : findDuplicateKey(text);
}

/**
 * `JSON.parse` for unambiguous texts: undefined if it is not JSON, nested too deep, or has a
 * duplicate key.
 */
export function parseUnambiguous(text: string): unknown {
  if (isDeeperThan(text, MAX_JSON_DEPTH)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return duplicateKeyIn(text, value) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Counts colons after an unescaped quote. Those inside of strings count too and cause a closer
 * look.
 */
function keysInText(text: string): number {
  let count = 0;
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) <= 32) before--;
    if (text.charCodeAt(before) === QUOTE && text.charCodeAt(before - 1) !== BACKSLASH) count++;
  }
  return count;
}

function keysInValue(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += keysInValue(item);
  else
    for (const key of Object.keys(value))
      count += 1 + keysInValue((value as Readonly<Record<string, unknown>>)[key]);
  return count;
}

/**
 * A duplicate key of an object, with its offset. `JSON.parse` keeps the last one and other readers
 * the first, so such a text is ambiguous. The text must be valid JSON.
 */
export function findDuplicateKey(
  text: string,
): { readonly key: string; readonly offset: number } | undefined {
  /** Keys of each open object; undefined for an open list. */
  const open: (Set<string> | undefined)[] = [];
  let expectsKey = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      const start = i;
      let isPlain = true;
      for (i++; i < text.length && text.charCodeAt(i) !== QUOTE; i++) {
        if (text.charCodeAt(i) !== BACKSLASH) continue;
        isPlain = false;
        i++;
      }
      const keys = expectsKey ? open.at(-1) : undefined;
      expectsKey = false;
      if (keys === undefined) continue;
      const written = text.slice(start, i + 1);
      const key = isPlain ? written.slice(1, -1) : unescaped(written);
      if (keys.has(key)) return { key, offset: start };
      keys.add(key);
    } else if (c === 123) {
      open.push(new Set());
      expectsKey = true;
    } else if (c === 91) open.push(undefined);
    else if (c === 125 || c === 93) {
      open.pop();
      expectsKey = false;
    } else if (c === 44) expectsKey = open.at(-1) !== undefined;
  }
  return undefined;
}

function unescaped(written: string): string {
  try {
    return String(JSON.parse(written));
  } catch {
    return written;
  }
}
