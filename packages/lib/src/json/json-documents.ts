import { findJsonError } from './json-error.ts';

/** A JSON object or list in a text, from `start` up to `end`. */
export interface JsonDocument {
  readonly start: number;
  readonly end: number;
  /** Shares its first or last line with other words. */
  readonly isInline: boolean;
}

/**
 * Text that starts like JSON but is not: its position, how far it parsed, and whether the text ends
 * there.
 */
export interface BrokenDocument {
  readonly start: number;
  readonly end: number;
  readonly isInline: boolean;
  readonly isEnd: boolean;
}

export interface FoundDocuments {
  readonly documents: readonly JsonDocument[];
  readonly broken: readonly BrokenDocument[];
}

const OPENING = /(?:^[ \t]*([{[]))|(?:^[ \t]*(```|~~~))|(\{)\s*["']/gm;
/** Bounds the work; prose contains few. */
const MAX_DOCUMENTS = 10_000;

/**
 * Finds JSON objects and lists in a text: those at the start of a line, and objects anywhere in
 * one. Skips fenced code, which is part of the message. Takes linear time.
 */
export function findDocuments(text: string): FoundDocuments {
  const documents: JsonDocument[] = [];
  const broken: BrokenDocument[] = [];
  const opening = new RegExp(OPENING);
  let isFenced = false;
  for (let found = opening.exec(text); found !== null; found = opening.exec(text)) {
    if (documents.length + broken.length > MAX_DOCUMENTS) break;
    if (found[2] !== undefined) {
      isFenced = !isFenced;
      continue;
    }
    if (isFenced) continue;
    const isFirst = found[1] !== undefined;
    const start = isFirst ? opening.lastIndex - 1 : found.index;
    const error = findJsonError(text.slice(start));
    const end = error === undefined ? text.length : start + error.offset;
    const isInline = !(isFirst && isLineEnd(text, end));
    const document = text.slice(start, end).trimEnd();
    if (error === undefined || isJson(document))
      documents.push({ start, end: start + document.length, isInline });
    else broken.push({ start, end, isInline: !isFirst, isEnd: error.isEnd });
    // Never reads a range twice.
    opening.lastIndex = Math.max(opening.lastIndex, end);
  }
  return { documents, broken };
}

/** The error is at the next non-blank character, so a line must have ended before it. */
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
