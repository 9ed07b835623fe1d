import { writeSync } from 'node:fs';
import { maskText, SECRETS } from '../secrets/secrets.ts';

const decoder = new TextDecoder();
const CAPACITY = 512 * 1024;
/** A UTF-16 unit takes up to three bytes. */
const MAX_BYTES_A_UNIT = 3;

/**
 * An append-only file with a byte buffer, because a system call per line would cost more than the
 * line, and joining lines first would copy each twice. Masks secrets: all files are written here.
 */
export class TextFile {
  readonly #fd: number;
  #bytes: Buffer | undefined;
  #length = 0;
  /** Written bytes, including the original content. */
  #written: number;

  constructor(fd: number, size = 0) {
    this.#fd = fd;
    this.#written = size;
  }

  /** Final length of the file. */
  get size(): number {
    return this.#written + this.#length;
  }

  /** Buffered bytes. */
  get held(): number {
    return this.#length;
  }

  /** Appends a text from pieces, in one write unless it exceeds the buffer. */
  append(...pieces: readonly string[]): void {
    this.appendMasked(...(SECRETS.isEmpty ? pieces : pieces.map(maskText)));
  }

  /**
   * Appends the bytes of a text. Masks them again, because a secret may have become known after
   * they were written elsewhere.
   */
  appendBytes(bytes: Uint8Array): void {
    if (!SECRETS.isEmpty) {
      this.append(decoder.decode(bytes));
      return;
    }
    if (this.#length + bytes.length > CAPACITY) this.flush();
    if (bytes.length > CAPACITY) {
      this.#write(bytes);
      return;
    }
    this.#bytes ??= Buffer.allocUnsafe(CAPACITY);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /**
   * Like `append`, for masked values. Scanning every result twice would cost as much as writing it.
   */
  appendMasked(...pieces: readonly string[]): void {
    let most = 0;
    for (const piece of pieces) most += piece.length * MAX_BYTES_A_UNIT;
    if (this.#length + most > CAPACITY) this.flush();
    if (most > CAPACITY) {
      for (const piece of pieces) this.#write(Buffer.from(piece));
      return;
    }
    this.#bytes ??= Buffer.allocUnsafe(CAPACITY);
    for (const piece of pieces) this.#length += this.#bytes.write(piece, this.#length);
  }

  /** Passes everything to the operating system, so that a kill loses nothing. */
  flush(): void {
    if (this.#bytes === undefined || this.#length === 0) return;
    const length = this.#length;
    this.#length = 0;
    this.#write(this.#bytes.subarray(0, length));
  }

  /** The system may accept fewer bytes than given. */
  #write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
    this.#written += bytes.length;
  }
}
