/** Longer messages are not kept in memory. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 10;

export interface LineSink {
  /** A whole line with its end. The last line of a stream may have none. */
  readonly line: (bytes: Buffer) => void;
  /** A piece of a line above the limit: first the buffered part, then the rest as it arrives. */
  readonly long: (
    piece: Buffer,
    place: { readonly isFirst: boolean; readonly isLast: boolean },
  ) => void;
}

/** Splits a stream into lines, byte for byte. */
export class LineSplitter {
  readonly #sink: LineSink;
  readonly #max: number;
  #held: Buffer[] = [];
  #size = 0;
  #isLong = false;

  constructor(sink: LineSink, max = MAX_MESSAGE_BYTES) {
    this.#sink = sink;
    this.#max = max;
  }

  write(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end + 1), true);
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start), false);
  }

  /** Called at the end of the stream. The rest is a line too, because some parsers accept it. */
  end(): void {
    if (this.#size > 0 || this.#isLong) this.#add(Buffer.alloc(0), true);
  }

  #add(piece: Buffer, isLast: boolean): void {
    if (this.#isLong) {
      this.#isLong = !isLast;
      this.#sink.long(piece, { isFirst: false, isLast });
      return;
    }
    this.#held.push(piece);
    this.#size += piece.length;
    if (!isLast && this.#size <= this.#max) return;
    const bytes = this.#held.length === 1 ? piece : Buffer.concat(this.#held);
    const isLong = this.#size > this.#max;
    this.#held = [];
    this.#size = 0;
    if (isLong) {
      this.#isLong = !isLast;
      this.#sink.long(bytes, { isFirst: true, isLast });
    } else this.#sink.line(bytes);
  }
}
