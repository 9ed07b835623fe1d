/** A value in a JSON text: its position, and its key in a map. */
export interface JsonPlace {
  readonly start: number;
  readonly end: number;
  readonly key?: string;
  readonly keyStart?: number;
}

/** The items or values of the JSON list or map at `from`, skipping deeper levels. */
export function* jsonParts(text: string, from = 0): Generator<JsonPlace> {
  let at = skipSpace(text, from);
  const isMap = text[at] === '{';
  if (!isMap && text[at] !== '[') return;
  at = skipSpace(text, at + 1);
  while (at < text.length && text[at] !== '}' && text[at] !== ']') {
    let key: string | undefined;
    const keyStart = at;
    if (isMap) {
      const end = skipString(text, at);
      key = JSON.parse(text.slice(at, end)) as string;
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    const end = skipValue(text, at);
    yield key === undefined ? { start: at, end } : { start: at, end, key, keyStart };
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
}

/** The first duplicate key of a valid JSON text, at any level. `value` is the parsed text. */
export function duplicateKey(
  text: string,
  value: unknown,
): { readonly key: string; readonly offset: number } | undefined {
  // Every key precedes a colon. If there are as many colons as keys, no key is duplicated. Strings
  // may contain more of them.
  return (text.match(/"\s*:/g)?.length ?? 0) === countKeys(value)
    ? undefined
    : duplicateIn(text, 0);
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value);
  let count = Array.isArray(value) ? 0 : inside.length;
  for (const item of inside) count += countKeys(item);
  return count;
}

function duplicateIn(
  text: string,
  from: number,
): { readonly key: string; readonly offset: number } | undefined {
  const seen = new Set<string>();
  for (const { start, key, keyStart = start } of jsonParts(text, from)) {
    if (key !== undefined && seen.has(key)) return { key, offset: keyStart };
    if (key !== undefined) seen.add(key);
    const inside = duplicateIn(text, start);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text[at]!)) at++;
  return at;
}

/** The offset after the closing quote. */
function skipString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function skipValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const c = text[at]!;
    if (c === '"') at = skipString(text, at);
    else if (c === '{' || c === '[') {
      depth++;
      at++;
    } else if (c === '}' || c === ']') {
      if (depth === 0) return at;
      depth--;
      at++;
    } else if (depth === 0 && (c === ',' || ' \t\r\n'.includes(c))) return at;
    else at++;
    if (depth === 0 && (c === '"' || c === '}' || c === ']')) return at;
  }
  return at;
}
