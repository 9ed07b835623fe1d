import { findJsonError } from '../kit/json-error.ts';

/** A JSON document that begins on a line of its own and is followed by nothing but the end of a line. */
interface JsonDocument {
  readonly start: number;
  readonly end: number;
}

export type FoundRecording =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly text: string; readonly noise: readonly string[] }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Looks for a recording among lines of log. It must be the last JSON document of the output, or the lines of documents that
 * end with it; what else was printed is noise. Fenced code is part of an answer and is passed over.
 */
export function findRecording(text: string, isRecording: (json: string) => boolean): FoundRecording {
  const documents = documentsIn(text);
  const last = documents.at(-1);
  if (last === undefined) return { kind: 'none' };
  const isOne = ({ start, end }: JsonDocument): boolean => isRecording(text.slice(start, end));
  const first = firstOfLines(text, documents);
  const lines = { start: first.start, end: last.end };
  const isWhole = first !== last && isOne(lines);
  const found = isWhole ? lines : last;
  const earlier = documents.filter(({ start }) => start < found.start).filter(isOne);
  if (!isWhole && !isOne(last)) {
    return earlier.length === 0
      ? { kind: 'none' }
      : { kind: 'refused', why: 'the output has a recording that is followed by another JSON document' };
  }
  if (earlier.length > 0)
    return { kind: 'refused', why: `the output has ${earlier.length + 1} recordings instead of one` };
  const around = `${text.slice(0, found.start)}\n${text.slice(found.end)}`;
  const noise = around.split('\n').filter((line) => line.trim() !== '');
  return { kind: 'one', text: text.slice(found.start, found.end), noise };
}

/** The first of the documents that stand directly before the last one, with nothing but blanks between. */
function firstOfLines(text: string, documents: readonly JsonDocument[]): JsonDocument {
  let at = documents.length - 1;
  while (at > 0 && text.slice(documents[at - 1]!.end, documents[at]!.start).trim() === '') at--;
  return documents[at]!;
}

function documentsIn(text: string): JsonDocument[] {
  const documents: JsonDocument[] = [];
  const opening = /^[ \t]*(?:([{[])|(```|~~~))/gm;
  let isFenced = false;
  for (let found = opening.exec(text); found !== null; found = opening.exec(text)) {
    if (found[2] !== undefined) {
      isFenced = !isFenced;
      continue;
    }
    if (isFenced) continue;
    const start = opening.lastIndex - 1;
    const error = findJsonError(text.slice(start));
    const end = error === undefined ? text.length : start + error.offset;
    const isDocument = error === undefined || isJson(text.slice(start, end));
    if (isDocument && isLineEnd(text, end)) documents.push({ start, end });
    // What was read is not read again, whatever it was.
    opening.lastIndex = Math.max(opening.lastIndex, end);
  }
  return documents;
}

/** The error is at the next character that is not a blank: a line must have ended before it. */
const isLineEnd = (text: string, at: number): boolean =>
  at >= text.length || /[\n\r]\s*$/.test(text.slice(Math.max(0, at - 200), at));

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
