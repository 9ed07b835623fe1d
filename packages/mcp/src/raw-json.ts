/** Range of a value in a JSON text, the end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The range of a key's value in an object of valid JSON. Of duplicate keys, the last one counts, as
 * in `JSON.parse`.
 */
export function valueSpan(text: string, object: Span, key: string): Span | undefined {
  let found: Span | undefined;
  let at = skipSpace(text, object.start + 1);
  while (text[at] === '"') {
    const name = skipString(text, at);
    const isIt = JSON.parse(text.slice(at, name)) === key;
    // A colon follows every key.
    const start = skipSpace(text, skipSpace(text, name) + 1);
    const end = skipValue(text, start);
    if (isIt) found = { start, end };
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return found;
}

/** The ranges of the items of a JSON list. */
export function itemSpans(text: string, list: Span): Span[] {
  const spans: Span[] = [];
  let at = skipSpace(text, list.start + 1);
  while (at < list.end - 1) {
    const end = skipValue(text, at);
    spans.push({ start: at, end });
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return spans;
}

/** The range of the root value. */
export function rootSpan(text: string): Span {
  const start = skipSpace(text, 0);
  return { start, end: skipValue(text, start) };
}

/** Replaces the items of a list by a subset. The rest of the text stays unchanged. */
export const withItems = (text: string, list: Span, items: readonly Span[]): string =>
  `${text.slice(0, list.start)}[${items.map(({ start, end }) => text.slice(start, end)).join(',')}]${text.slice(list.end)}`;

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n\ufeff'.includes(text[at]!)) at++;
  return at;
}

function skipString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text.charCodeAt(at) !== 34) at += text.charCodeAt(at) === 92 ? 2 : 1;
  return at + 1;
}

function skipValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return skipString(text, from);
  if (first !== '{' && first !== '[') {
    let at = from;
    while (at < text.length && !',]} \t\r\n'.includes(text[at]!)) at++;
    return at;
  }
  let depth = 0;
  let at = from;
  do {
    const c = text.charCodeAt(at);
    if (c === 34) {
      at = skipString(text, at);
      continue;
    }
    if (c === 123 || c === 91) depth++;
    else if (c === 125 || c === 93) depth--;
    at++;
  } while (depth > 0 && at < text.length);
  return at;
}
