import { isAscii } from 'node:buffer';
import type { CutRecord, SplitLimits } from './json-splitter.ts';

const LINE_FEED = 10;

/** Cuts bytes into non-blank lines. Buffers at most one incomplete line. */
export class LineSplitter {
  readonly #maxBytes: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #line = 1;
  /** The current line exceeds the limit, and its bytes are dropped up to the next one. */
  #isSkipping = false;

  constructor(limits: SplitLimits) {
    this.#maxBytes = limits.maxBytes;
  }

  push(chunk: Buffer): CutRecord[] {
    const cuts: CutRecord[] = [];
    let start = 0;
    if (this.#isSkipping) {
      const end = chunk.indexOf(LINE_FEED);
      if (end === -1) return cuts;
      this.#isSkipping = false;
      this.#line++;
      start = end + 1;
    }
    const last = chunk.lastIndexOf(LINE_FEED);
    if (last >= start) {
      this.#cut(this.#take(chunk.subarray(start, last)), cuts);
      start = last + 1;
    }
    this.#keep(chunk.subarray(start), cuts);
    return cuts;
  }

  end(): CutRecord[] {
    const cuts: CutRecord[] = [];
    if (!this.#isSkipping && this.#pendingBytes > 0)
      this.#cut(this.#take(Buffer.alloc(0)), cuts, true);
    return cuts;
  }

  #take(bytes: Buffer): Buffer {
    const whole = this.#pending.length === 0 ? bytes : Buffer.concat([...this.#pending, bytes]);
    this.#pending = [];
    this.#pendingBytes = 0;
    return whole;
  }

  #keep(bytes: Buffer, cuts: CutRecord[]): void {
    if (bytes.length === 0) return;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes <= this.#maxBytes) return;
    const text = this.#pending[0]!.toString('utf8', 0, 4096);
    cuts.push(tooLarge({ text, line: this.#line, maxBytes: this.#maxBytes }));
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#isSkipping = true;
  }

  /**
   * `bytes` are complete lines without the last line feed. Decoding them together makes this fast.
   */
  #cut(bytes: Buffer, cuts: CutRecord[], isLast = false): void {
    const text = decode(bytes);
    const mayBeBroken = text.includes('\uFFFD');
    let from = 0;
    let byteFrom = 0;
    for (;;) {
      const at = text.indexOf('\n', from);
      const line = at === -1 ? text.slice(from) : text.slice(from, at);
      let raw: Buffer | undefined;
      if (mayBeBroken) {
        const byteAt = bytes.indexOf(LINE_FEED, byteFrom);
        raw = bytes.subarray(byteFrom, byteAt === -1 ? bytes.length : byteAt);
        byteFrom = byteAt + 1;
      }
      if (line.length > this.#maxBytes) {
        cuts.push(
          tooLarge({ text: line.slice(0, 4096), line: this.#line, maxBytes: this.#maxBytes }),
        );
      } else if (line.trim() !== '')
        cuts.push({ text: line, bytes: raw, line: this.#line, column: 1, isLast });
      if (at === -1 && isLast) return;
      this.#line++;
      if (at === -1) return;
      from = at + 1;
    }
  }
}

/** Most recordings are ASCII, for which a check plus a copy takes a tenth of decoding. */
const decode = (bytes: Buffer): string => bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');

const tooLarge = (options: { text: string; line: number; maxBytes: number }): CutRecord => ({
  text: options.text,
  bytes: undefined,
  line: options.line,
  column: 1,
  isLast: false,
  problem: { reason: 'too-large', message: `larger than ${options.maxBytes} bytes`, offset: 0 },
});
