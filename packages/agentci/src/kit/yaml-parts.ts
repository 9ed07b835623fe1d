/** A piece of a text, and where it starts there. */
export interface TextPart {
  readonly text: string;
  readonly base: number;
}

/** A text cut around the block list under one of its root keys. */
export interface ListParts {
  /** Up to and including the line of the key. */
  readonly head: TextPart;
  /** Whole items, several to a part. */
  readonly items: readonly (TextPart & { readonly count: number })[];
  /** What follows the list, from the first column on; empty where nothing does. */
  readonly tail: TextPart;
}

/** Smaller parts keep the engine from optimizing the parser. */
const PART_SIZE = 500_000;
/** Below this a text is read before anything could be gained. */
const MIN_SIZE = 50_000;

/**
 * Cuts a text around a long list, so that its items can be read apart from the rest and the parser's events for thousands
 * of them are not in memory together. Undefined where parts might mean something else than the whole: then the text has to be read at once.
 */
export function cutAtList(text: string, key: string, size = PART_SIZE): ListParts | undefined {
  // An anchor in one part may be used in another; other line ends are rare and not worth a second set of rules.
  if (text.length < Math.min(2 * size, MIN_SIZE) || text.includes('\r') || /[\s[{,]&\S/.test(text))
    return undefined;
  const line = new RegExp(`^${key}:[ \\t]*(?:#.*)?\\n`, 'm').exec(text);
  if (line === null) return undefined;
  const from = line.index + line[0].length;
  const first = /^( *)-[ \n]/my;
  first.lastIndex = skipEmptyLines(text, from);
  const indent = first.exec(text)?.[1];
  if (indent === undefined) return undefined;

  const to = endOfList(text, from, indent.length);
  if (/^(?:---|\.\.\.|%)/m.test(text.slice(from)) || /^\s/.test(text.slice(to, to + 1)))
    return undefined;
  return {
    head: { text: text.slice(0, from), base: 0 },
    items: cutItems(text, { from, to, indent, size }),
    tail: { text: text.slice(to), base: to },
  };
}

function skipEmptyLines(text: string, from: number): number {
  const empty = /(?:[ \t]*(?:#.*)?\n)*/y;
  empty.lastIndex = from;
  empty.test(text);
  return empty.lastIndex;
}

/** The first line that is indented less than the items are, or starts a key beside them. */
function endOfList(text: string, from: number, indent: number): number {
  const outside = indent === 0 ? /^[^\s#-]/gm : new RegExp(`^ {0,${indent - 1}}[^\\s#]`, 'gm');
  outside.lastIndex = from;
  return outside.exec(text)?.index ?? text.length;
}

interface Cut {
  readonly from: number;
  readonly to: number;
  readonly indent: string;
  readonly size: number;
}

function cutItems(text: string, { from, to, indent, size }: Cut): ListParts['items'] {
  const parts: ListParts['items'][number][] = [];
  const item = new RegExp(`^${indent}-[ \\n]`, 'gm');
  item.lastIndex = from;
  let base = from;
  let count = 0;
  for (let found = item.exec(text); found !== null && found.index < to; found = item.exec(text)) {
    if (found.index - base > size && count > 0) {
      parts.push({ text: text.slice(base, found.index), base, count });
      base = found.index;
      count = 0;
    }
    count++;
  }
  parts.push({ text: text.slice(base, to), base, count });
  return parts;
}
