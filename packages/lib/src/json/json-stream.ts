import { findJsonError } from './json-error.ts';
import { duplicateKeyIn } from './json-keys.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from './json-limits.ts';
import { type CutRecord, JsonSplitter } from './json-splitter.ts';
import { LineSplitter } from './jsonl-splitter.ts';

/** A value out of a stream of JSON, or what is wrong with its text, in the order of the file. */
export type StreamRecord = StreamValue | StreamProblem;

export interface StreamValue {
  readonly ok: true;
  readonly value: unknown;
  readonly line: number;
  readonly index: number;
  /** As written, to look closer at; absent where the value was not parsed from text. */
  readonly text?: string;
}

export interface StreamProblem {
  readonly ok: false;
  readonly reason: 'bad-json' | 'truncated' | 'too-large' | 'too-deep' | 'bad-utf8';
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly index: number;
  /** The beginning of the text at fault, to see whose record it was. */
  readonly head: string;
}

export interface JsonStreamOptions {
  /** The file's name says that every line is a record. It decides only where the text itself does not. */
  readonly namedLines?: boolean;
  /** A key at the top of an object whose list is read item by item, e.g. `traces`. */
  readonly unwrapKey?: string;
  readonly maxRecordBytes?: number;
}

const DEFAULT_MAX_RECORD_BYTES = 64 * 1024 * 1024;
const HEAD_BYTES = 64 * 1024;
const HEAD_CHARS = 4096;

/**
 * Reads JSON, a JSON list, or JSON lines from chunks of bytes, one record at a time: a list gives its items, lines give
 * one record each. Memory holds one record. Which of the three it is, is seen from the first 64 KB.
 */
export class JsonStream {
  readonly #options: JsonStreamOptions;
  #head: Buffer[] = [];
  #headBytes = 0;
  #splitter: JsonSplitter | LineSplitter | undefined;
  #index = 0;
  /** Keeps the text beside each value; unused text only feeds the garbage collector. */
  keepsText = true;

  constructor(options: JsonStreamOptions = {}) {
    this.#options = options;
  }

  push(chunk: Uint8Array): StreamRecord[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#splitter !== undefined) return this.#read(this.#splitter.push(bytes));
    this.#head.push(bytes);
    this.#headBytes += bytes.length;
    return this.#headBytes < HEAD_BYTES ? [] : this.#start(false);
  }

  end(): StreamRecord[] {
    const before = this.#splitter === undefined ? this.#start(true) : [];
    return this.#splitter === undefined ? before : [...before, ...this.#read(this.#splitter.end())];
  }

  #start(isWhole: boolean): StreamRecord[] {
    const joined = Buffer.concat(this.#head);
    const head =
      joined[0] === 0xef && joined[1] === 0xbb && joined[2] === 0xbf ? joined.subarray(3) : joined;
    this.#head = [];
    const limits = {
      maxBytes: this.#options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES,
      maxDepth: MAX_JSON_DEPTH,
    };
    this.#splitter = isLines(
      head.subarray(0, HEAD_BYTES),
      isWhole && head.length <= HEAD_BYTES,
      this.#options.namedLines,
    )
      ? new LineSplitter(limits)
      : new JsonSplitter({ ...limits, unwrapKey: this.#options.unwrapKey });
    return this.#read(this.#splitter.push(head));
  }

  #read(cuts: readonly CutRecord[]): StreamRecord[] {
    const records: StreamRecord[] = [];
    for (const cut of cuts) records.push(parse(cut, ++this.#index, this.keepsText));
    return records;
  }
}

function parse(cut: CutRecord, index: number, keepsText: boolean): StreamRecord {
  const { text, line } = cut;
  if (cut.problem !== undefined) return problem(cut, index, cut.problem);
  if (text.includes('\uFFFD') && cut.bytes !== undefined && !isUtf8(cut.bytes)) {
    return problem(cut, index, {
      reason: 'bad-utf8',
      message: 'not valid UTF-8',
      offset: text.indexOf('\uFFFD'),
    });
  }
  if (isDeeperThan(text, MAX_JSON_DEPTH)) {
    return problem(cut, index, {
      reason: 'too-deep',
      message: `nested deeper than ${MAX_JSON_DEPTH} levels`,
      offset: 0,
    });
  }
  try {
    const value: unknown = JSON.parse(text);
    const twice = duplicateKeyIn(text, value);
    if (twice !== undefined) {
      const message = `the key ${JSON.stringify(twice.key)} is given twice`;
      return problem(cut, index, { reason: 'bad-json', message, offset: twice.offset });
    }
    return keepsText ? { ok: true, value, line, index, text } : { ok: true, value, line, index };
  } catch {
    const error = findJsonError(text) ?? { offset: 0, message: 'not JSON', isEnd: false };
    const reason = error.isEnd && cut.isLast ? 'truncated' : 'bad-json';
    const message =
      reason === 'truncated' ? `the text ends early: ${error.message}` : error.message;
    return problem(cut, index, { reason, message, offset: error.offset });
  }
}

function problem(
  cut: CutRecord,
  index: number,
  what: NonNullable<CutRecord['problem']>,
): StreamProblem {
  const before = cut.text.slice(0, what.offset);
  const lastBreak = before.lastIndexOf('\n');
  let breaks = 0;
  for (let at = before.indexOf('\n'); at !== -1; at = before.indexOf('\n', at + 1)) breaks++;
  return {
    ok: false,
    reason: what.reason,
    message: what.message,
    line: cut.line + breaks,
    column: lastBreak === -1 ? cut.column + before.length : before.length - lastBreak,
    index,
    head: cut.text.slice(0, HEAD_CHARS),
  };
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Whether every line is a record of its own, judged by the lines that are whole in the head of the file. */
function isLines(head: Buffer, isWhole: boolean, namedLines = false): boolean {
  const lines = head.toString('utf8').split('\n');
  const partial = isWhole ? '' : (lines.pop() ?? '');
  const filled = lines.filter((line) => line.trim() !== '');
  const first = filled[0];
  if (first === undefined) return namedLines;
  const hasMore = filled.length > 1 || partial.trim() !== '';
  if (isJson(first)) return hasMore;
  const opener = first.trim();
  if (opener === '{' || opener === '[') return false;
  if (namedLines) return true;
  // A broken first line must not turn a file of lines into one broken document.
  return !opener.startsWith('[') && filled.some((line) => line.startsWith('{') && isJson(line));
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
