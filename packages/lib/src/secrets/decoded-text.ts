/** A range of a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A decoded text, with a mapping back to the original. */
export interface DecodedText {
  readonly text: string;
  readonly sourceOf: (span: Span) => Span;
}

/** One escape: its position in the decoded text, and its original form. */
interface Edit extends Span {
  readonly from: Span;
}

/** JSON inside JSON inside JSON, in a URL. */
const MAX_LEVELS = 5;

const ESCAPE =
  /(?:%[0-9a-f]{2})+|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\["'\\/bfnrt]|&(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-f]{1,6});/gi;
/** Fast test for texts that may have escapes. */
const mayEscape = (text: string): boolean =>
  text.includes('%') || text.includes('\\') || text.includes('&');

/** An incomplete escape, or incomplete bytes of a character, at the end of a text. */
export const OPEN_ESCAPE =
  /(?:%[c-f][0-9a-f](?:%[89ab][0-9a-f]){0,2}(?:%[0-9a-f]?)?|%[0-9a-f]?|\\(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?|&#?\w{0,7}){1,4}$/i;

/**
 * Decodes URL encoding and the escapes of JSON, Python and HTML, level by level. Yields nothing for
 * a text without escapes.
 */
export function* decodedTexts(text: string): Generator<DecodedText> {
  if (!mayEscape(text)) return;
  let current: DecodedText = { text, sourceOf: (span) => span };
  for (let level = 0; level < MAX_LEVELS; level++) {
    const next = decodeOnce(current);
    if (next === undefined) return;
    yield next;
    current = next;
  }
}

/** The text after decoding all levels. */
export function fullyDecoded(text: string): string {
  let last = text;
  for (const decoded of decodedTexts(text)) last = decoded.text;
  return last;
}

function decodeOnce({ text, sourceOf }: DecodedText): DecodedText | undefined {
  const edits: Edit[] = [];
  let decoded = '';
  let at = 0;
  const put = (character: string, from: Span): void => {
    decoded += text.slice(at, from.start);
    edits.push({ start: decoded.length, end: decoded.length + character.length, from });
    decoded += character;
    at = from.end;
  };
  for (const { 0: written, index } of text.matchAll(ESCAPE)) {
    if (written.startsWith('%'))
      for (const [character, from] of bytesOf(written, index)) put(character, from);
    else put(characterOf(written), { start: index, end: index + written.length });
  }
  if (edits.length === 0) return undefined;
  decoded += text.slice(at);
  return { text: decoded, sourceOf: (span) => sourceOf(spanBefore(edits, span)) };
}

/** Decodes a run of `%XX` as UTF-8, with positions. Invalid bytes stay as they are. */
function* bytesOf(run: string, start: number): Generator<[string, Span]> {
  const bytes = Buffer.from(run.replaceAll('%', ''), 'hex');
  for (let i = 0; i < bytes.length; ) {
    const length = sequenceLength(bytes[i]!);
    const character = bytes.toString('utf8', i, i + length);
    const isWhole = length > 0 && i + length <= bytes.length && !character.includes('\ufffd');
    if (isWhole) yield [character, { start: start + 3 * i, end: start + 3 * (i + length) }];
    i += isWhole ? length : 1;
  }
}

function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

const NAMED: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
};

function characterOf(written: string): string {
  if (written.startsWith('&#')) {
    const code = /^&#x/i.test(written)
      ? Number.parseInt(written.slice(3), 16)
      : Number.parseInt(written.slice(2), 10);
    return code > 0x10ffff ? written : String.fromCodePoint(code);
  }
  if (written.startsWith('&')) return NAMED[written.toLowerCase()]!;
  if (written.length > 2) return String.fromCharCode(Number.parseInt(written.slice(2), 16));
  return NAMED[written[1]!] ?? written[1]!;
}

/** Maps a decoded range to the original. Half an escape counts as the whole. */
function spanBefore(edits: readonly Edit[], { start, end }: Span): Span {
  const first = lastBefore(edits, start);
  const last = lastBefore(edits, end - 1);
  const before = { start, end };
  if (first !== undefined)
    before.start = start < first.end ? first.from.start : start - first.end + first.from.end;
  if (last !== undefined)
    before.end = end <= last.end ? last.from.end : end - last.end + last.from.end;
  return before;
}

/** The last escape at or before an offset. */
function lastBefore(edits: readonly Edit[], at: number): Edit | undefined {
  let low = 0;
  let high = edits.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edits[middle]!.start <= at) low = middle + 1;
    else high = middle;
  }
  return edits[low - 1];
}
