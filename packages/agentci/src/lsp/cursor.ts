/** A list item in a path of keys. */
export const ITEM = '[]';

/**
 * The structural position in a YAML text. Found by indentation, so it works while the user types.
 */
export interface Cursor {
  /** Keys and items from the root to the enclosing map, list or value. */
  readonly path: readonly string[];
  /** A key is possible here. */
  readonly isKey: boolean;
  /** A value is possible here. */
  readonly isValue: boolean;
  /** The typed part of the word, and its start column. */
  readonly word: string;
  readonly start: number;
}

const KEY = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s#'"[\]{},&*!|>%@`][^#]*?)):(?=\s|$)/;
/** Search limit for the parent key, because a text may be one list of a million lines. */
const MAX_LINES_UP = 20_000;

/** The cursor before a character, both numbers counted from 0. */
export function cursorAt(lines: readonly string[], line: number, character: number): Cursor {
  const before = (lines[line] ?? '').slice(0, character);
  const { segments, indent, rest } = segmentsOf(before);
  const path = parentsOf(lines, line, segments[0]?.at ?? indent, segments[0]?.key === ITEM);
  const isBlank = rest === '';
  for (const { key } of segments) path.push(key);
  if (isBlank || segments.at(-1)?.isOpen !== true) {
    const canBeKey = segments.at(-1)?.key === ITEM || segments.length === 0;
    const word = wordBefore(rest);
    if (!/[[{]/.test(rest))
      return {
        path,
        isKey: canBeKey,
        isValue: segments.length > 0,
        word,
        start: before.length - word.length,
      };
  }
  return inFlow(path, rest, before.length);
}

interface Segment {
  readonly key: string;
  readonly at: number;
  /** A value follows on the same line. */
  readonly isOpen: boolean;
}

/** The dashes and key at the start of a line, and the rest. */
function segmentsOf(line: string): { segments: Segment[]; indent: number; rest: string } {
  const segments: Segment[] = [];
  let at = line.length - line.trimStart().length;
  let rest = line.slice(at);
  while (rest === '-' || rest.startsWith('- ')) {
    segments.push({ key: ITEM, at, isOpen: false });
    const next = rest.slice(1).trimStart();
    at += rest.length - next.length;
    rest = next;
  }
  const match = KEY.exec(rest);
  if (match === null) return { segments, indent: at, rest };
  const value = rest.slice(match[0].length).trimStart();
  segments.push({ key: match[1] ?? match[2] ?? match[3]!, at, isOpen: value !== '' });
  return { segments, indent: at, rest: value };
}

/** The parent keys of a line, by indentation. */
function parentsOf(
  lines: readonly string[],
  line: number,
  indent: number,
  isItem: boolean,
): string[] {
  const path: string[] = [];
  let need = indent;
  // List items may have the same indentation as the list's key.
  let belowKey = isItem;
  for (let i = line - 1; i >= Math.max(0, line - MAX_LINES_UP) && (need > 0 || belowKey); i--) {
    const text = lines[i]!;
    if (text.trim() === '' || text.trimStart().startsWith('#')) continue;
    const { segments } = segmentsOf(text);
    for (const { key, at } of segments.reverse()) {
      const isParent = key === ITEM ? at < need : at < need || (belowKey && at === need);
      if (!isParent) continue;
      path.unshift(key);
      need = at;
      belowKey = key === ITEM;
    }
  }
  return path;
}

const wordBefore = (text: string): string => /[^\s[\]{},'"]*$/.exec(text)![0];

/** The position inside brackets on one line. */
function inFlow(outer: readonly string[], text: string, end: number): Cursor {
  const stack: { readonly isMap: boolean; key: string | undefined; from: number }[] = [];
  let quote: string | undefined;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i]!;
    const top = stack.at(-1);
    if (quote !== undefined) {
      if (letter === '\\' && quote === '"') i++;
      else if (letter === quote) quote = undefined;
    } else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === '{' || letter === '[')
      stack.push({ isMap: letter === '{', key: undefined, from: i + 1 });
    else if (letter === '}' || letter === ']') stack.pop();
    else if (letter === ',' && top !== undefined) {
      top.key = undefined;
      top.from = i + 1;
    } else if (
      letter === ':' &&
      top?.isMap &&
      top.key === undefined &&
      /[\s"']/.test(text[i + 1] ?? ' ')
    )
      top.key = text
        .slice(top.from, i)
        .trim()
        .replace(/^["']|["']$/g, '');
  }
  const path = [...outer];
  for (const { isMap, key } of stack) {
    if (!isMap) path.push(ITEM);
    else if (key !== undefined) path.push(key);
  }
  const top = stack.at(-1);
  const word = wordBefore(text);
  const isKey = top?.isMap === true && top.key === undefined;
  return { path, isKey, isValue: !isKey, word, start: end - word.length };
}

/** The key at a position, with the path of its map. */
export function keyAt(
  lines: readonly string[],
  line: number,
  character: number,
): { path: string[]; key: string } | undefined {
  const text = lines[line] ?? '';
  for (const match of text.matchAll(/[\w$.-]+(?=["']?\s*:(?:\s|$))/g)) {
    const end = match.index + match[0].length;
    if (character < match.index || character > end) continue;
    const { path } = cursorAt(lines, line, match.index);
    return { path: [...path], key: match[0] };
  }
  return undefined;
}
