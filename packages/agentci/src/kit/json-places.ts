/** A value in a JSON text: its place, and the key it has in a map. */
export interface JsonPlace {
  readonly start: number;
  readonly end: number;
  readonly key?: string;
}

/** The items of the list, or the values of the map, that a well-formed JSON text holds from `from` on; the levels below are passed over. */
export function* jsonParts(text: string, from = 0): Generator<JsonPlace> {
  let at = skipSpace(text, from);
  const isMap = text[at] === '{';
  if (!isMap && text[at] !== '[') return;
  at = skipSpace(text, at + 1);
  while (at < text.length && text[at] !== '}' && text[at] !== ']') {
    let key: string | undefined;
    if (isMap) {
      const end = skipString(text, at);
      key = JSON.parse(text.slice(at, end)) as string;
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    const end = skipValue(text, at);
    yield key === undefined ? { start: at, end } : { start: at, end, key };
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
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
