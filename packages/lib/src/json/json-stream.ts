import { findJsonError } from './json-error.ts';
import { duplicateKeyIn } from './json-keys.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from './json-limits.ts';
import { type CutRecord, JsonSplitter } from './json-splitter.ts';
import { LineSplitter } from './jsonl-splitter.ts';

/** A value from a JSON stream, or a problem of its text, in file order. */
export type StreamRecord = StreamValue | StreamProblem;

export interface StreamValue {
  readonly ok: true;
  readonly value: unknown;
  readonly line: number;
  readonly index: number;
  /** The original text, if the value was parsed from text. */
  readonly text?: string;
}

export interface StreamProblem {
  readonly ok: false;
  readonly reason: 'bad-json' | 'truncated' | 'too-large' | 'too-deep' | 'bad-utf8';
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly index: number;
  /** Start of the bad text, to identify its record. */
  readonly head: string;
}

export interface JsonStreamOptions {
  /** The file name suggests one record per line. Used only if the text does not decide. */
  readonly namedLines?: boolean;
  /** A top-level key whose list is read item by item, such as `traces`. */
  readonly unwrapKey?: string;
  readonly maxRecordBytes?: number;
}

const DEFAULT_MAX_RECORD_BYTES = 64 * 1024 * 1024;
const HEAD_BYTES = 64 * 1024;
const HEAD_CHARS = 4096;

/**
 * Reads JSON, a JSON list, or JSON lines from byte chunks, one record at a time. Decides between
 * the three from the first 64 KB. Memory holds one record.
 */
export class JsonStream {
  readonly #options: JsonStreamOptions;
  #head: Buffer[] = [];
  #headBytes = 0;
  #splitter: JsonSplitter | LineSplitter | undefined;
  #index = 0;
  /** Keeps the text of each value. Off if unused, to save garbage. */
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

/** Whether every line is a record, judging by the complete lines in the head of the file. */
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
