/** The unparsed text of one record, cut out of a stream. */
export interface CutRecord {
  readonly text: string;
  /** The original bytes, if needed to distinguish bad UTF-8 from a real U+FFFD. */
  readonly bytes: Uint8Array | undefined;
  readonly line: number;
  readonly column: number;
  /** Nothing follows it, so an early end means that the file is truncated. */
  readonly isLast: boolean;
  readonly problem?: {
    readonly reason: 'bad-json' | 'truncated' | 'too-large' | 'too-deep' | 'bad-utf8';
    readonly message: string;
    readonly offset: number;
  };
}

export interface SplitLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
}

const QUOTE = 34;
const BACKSLASH = 92;
const LINE_FEED = 10;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Start of a record: its offset in the current chunk (0 if it began earlier) and its location. */
interface OpenRecord {
  start: number;
  readonly line: number;
  readonly column: number;
  parts: Buffer[];
  partBytes: number;
  tooDeep: boolean;
  tooLarge: boolean;
}

/**
 * Cuts a JSON document into records without parsing it: the items of a list, the items of the list
 * under `unwrapKey`, or the whole document. Tracks only strings and nesting.
 */
export class JsonSplitter {
  readonly #limits: SplitLimits;
  readonly #unwrapKey: Buffer | undefined;
  #depth = 0;
  /** Depth of records: 0 for a document, 1 in a list, 2 in a wrapper's list. */
  #base = 0;
  #inString = false;
  #escaped = false;
  #open: OpenRecord | undefined;
  /** After the wrapper's list, where nothing is a record. */
  #isSkipping = false;
  #needsComma = false;
  #afterComma = false;
  #keyMatch = -1;
  #isUnwrapKey = false;
  #line = 1;
  #offset = 0;
  #lineStart = 0;

  constructor(options: SplitLimits & { readonly unwrapKey: string | undefined }) {
    this.#limits = options;
    this.#unwrapKey = options.unwrapKey === undefined ? undefined : Buffer.from(options.unwrapKey);
  }

  push(chunk: Buffer): CutRecord[] {
    const cuts: CutRecord[] = [];
    let inString = this.#inString;
    let escaped = this.#escaped;
    for (let i = 0; i < chunk.length; i++) {
      const c = chunk[i]!;
      if (inString) {
        if (escaped) escaped = false;
        else if (c === BACKSLASH) {
          escaped = true;
          this.#keyMatch = -1;
        } else if (c === QUOTE) {
          inString = false;
          this.#isUnwrapKey = this.#keyMatch >= 0 && this.#keyMatch === this.#unwrapKey?.length;
          if (this.#depth === this.#base && this.#open !== undefined)
            this.#finish(chunk, i + 1, cuts);
        } else if (c === LINE_FEED) this.#newLine(i);
        else if (this.#keyMatch >= 0) {
          this.#keyMatch = this.#unwrapKey?.[this.#keyMatch] === c ? this.#keyMatch + 1 : -1;
        }
        continue;
      }
      switch (c) {
        case LINE_FEED:
          this.#newLine(i);
          if (this.#depth === this.#base && this.#open !== undefined) this.#finish(chunk, i, cuts);
          break;
        case 32:
        case 9:
        case 13:
          if (this.#depth === this.#base && this.#open !== undefined) this.#finish(chunk, i, cuts);
          break;
        case QUOTE:
          inString = true;
          // Only a top-level key can be the wrapper's.
          this.#keyMatch = this.#depth === 1 && this.#base === 0 && !this.#isSkipping ? 0 : -1;
          this.#begin(i, cuts);
          break;
        case OPEN_OBJECT:
        case OPEN_LIST:
          this.#opener(c, i, cuts);
          break;
        case CLOSE_OBJECT:
        case CLOSE_LIST:
          this.#closer(c, chunk, i, cuts);
          break;
        case COMMA:
          this.#isUnwrapKey = false;
          if (this.#depth !== this.#base) break;
          if (this.#base === 0) this.#begin(i, cuts);
          else this.#comma(chunk, i, cuts);
          break;
        case COLON:
          if (this.#depth === this.#base) this.#begin(i, cuts);
          break;
        default:
          this.#isUnwrapKey = false;
          this.#begin(i, cuts);
      }
    }
    this.#inString = inString;
    this.#escaped = escaped;
    if (this.#open !== undefined) this.#carry(this.#open, chunk);
    this.#offset += chunk.length;
    return cuts;
  }

  end(): CutRecord[] {
    const cuts: CutRecord[] = [];
    const open = this.#open;
    if (open !== undefined) {
      this.#finish(Buffer.alloc(0), 0, cuts, true);
    } else if (this.#base > 0 || this.#isSkipping) {
      cuts.push(
        this.#fault('truncated', 'the text ends early: the list is not closed', this.#offset),
      );
    }
    return cuts;
  }

  #newLine(i: number): void {
    this.#line++;
    this.#lineStart = this.#offset + i + 1;
  }

  #fault(reason: 'bad-json' | 'truncated', message: string, absolute: number): CutRecord {
    const column = absolute - this.#lineStart + 1;
    return {
      text: '',
      bytes: undefined,
      line: this.#line,
      column,
      isLast: false,
      problem: { reason, message, offset: 0 },
    };
  }

  #begin(i: number, cuts: CutRecord[]): void {
    if (this.#open !== undefined || this.#isSkipping) return;
    if (this.#needsComma && this.#base > 0)
      cuts.push(this.#fault('bad-json', 'expected "," or "]" after an item', this.#offset + i));
    this.#needsComma = false;
    this.#afterComma = false;
    this.#open = {
      start: i,
      line: this.#line,
      column: this.#offset + i - this.#lineStart + 1,
      parts: [],
      partBytes: 0,
      tooDeep: false,
      tooLarge: false,
    };
  }

  #opener(c: number, i: number, cuts: CutRecord[]): void {
    if (!this.#isSkipping) {
      const isOuterList =
        this.#base === 0 && this.#depth === 0 && this.#open === undefined && c === OPEN_LIST;
      const isWrappedList =
        this.#isUnwrapKey && this.#depth === 1 && this.#base === 0 && c === OPEN_LIST;
      this.#isUnwrapKey = false;
      if (isOuterList || isWrappedList) {
        this.#open = undefined;
        this.#base = ++this.#depth;
        this.#needsComma = false;
        this.#afterComma = false;
        return;
      }
      this.#begin(i, cuts);
    }
    this.#depth++;
    if (this.#open !== undefined && this.#depth - this.#base > this.#limits.maxDepth)
      this.#open.tooDeep = true;
  }

  #closer(c: number, chunk: Buffer, i: number, cuts: CutRecord[]): void {
    this.#isUnwrapKey = false;
    if (this.#depth === this.#base && this.#base > 0) {
      if (this.#open !== undefined) this.#finish(chunk, i, cuts);
      if (c !== CLOSE_LIST)
        cuts.push(this.#fault('bad-json', 'expected "]" at the end of the list', this.#offset + i));
      else if (this.#afterComma)
        cuts.push(this.#fault('bad-json', 'expected an item after ","', this.#offset + i));
      this.#isSkipping = this.#base === 2;
      this.#base = 0;
      this.#depth--;
      return;
    }
    if (this.#depth === 0) {
      // A stray closing bracket becomes a separate record, so that the parser reports its location.
      this.#begin(i, cuts);
      this.#finish(chunk, i + 1, cuts);
      return;
    }
    this.#depth--;
    if (this.#depth !== this.#base) return;
    if (this.#isSkipping) this.#isSkipping = false;
    else this.#finish(chunk, i + 1, cuts);
  }

  #comma(chunk: Buffer, i: number, cuts: CutRecord[]): void {
    if (this.#open !== undefined) this.#finish(chunk, i, cuts);
    if (!this.#needsComma)
      cuts.push(this.#fault('bad-json', 'expected an item before ","', this.#offset + i));
    this.#needsComma = false;
    this.#afterComma = true;
  }

  /** Keeps the part of an open record in this chunk, or drops the record if it is too large. */
  #carry(open: OpenRecord, chunk: Buffer): void {
    if (!open.tooLarge) {
      const part = open.start === 0 ? chunk : chunk.subarray(open.start);
      open.parts.push(part);
      open.partBytes += part.length;
      if (open.partBytes > this.#limits.maxBytes) {
        open.tooLarge = true;
        open.parts = [Buffer.from(open.parts[0]!.subarray(0, 4096))];
      }
    }
    open.start = 0;
  }

  #finish(chunk: Buffer, end: number, cuts: CutRecord[], isLast = false): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    this.#needsComma = true;
    const { line, column } = open;
    const maxBytes = this.#limits.maxBytes;
    const tail = chunk.subarray(open.start, end);
    if (open.tooLarge || open.partBytes + tail.length > maxBytes) {
      const text = (open.parts[0] ?? tail).toString('utf8', 0, 4096);
      const problem = {
        reason: 'too-large' as const,
        message: `larger than ${maxBytes} bytes`,
        offset: 0,
      };
      cuts.push({ text, bytes: undefined, line, column, isLast, problem });
      return;
    }
    const bytes = open.parts.length === 0 ? tail : Buffer.concat([...open.parts, tail]);
    if (open.tooDeep) {
      const text = bytes.toString('utf8', 0, 4096);
      const problem = {
        reason: 'too-deep' as const,
        message: `nested deeper than ${this.#limits.maxDepth} levels`,
        offset: 0,
      };
      cuts.push({ text, bytes: undefined, line, column, isLast, problem });
      return;
    }
    cuts.push({ text: bytes.toString('utf8'), bytes, line, column, isLast });
  }
}
