import { writeSync } from 'node:fs';
import { maskText, SECRETS } from '../secrets/secrets.ts';

const decoder = new TextDecoder();
const CAPACITY = 512 * 1024;
/** A UTF-16 unit becomes at most three bytes. */
const MAX_BYTES_A_UNIT = 3;

/**
 * A file that only grows. Texts are gathered as bytes, since a system call for every line would cost more than the line,
 * and joining them first would copy every one of them twice. Secrets never reach a file: every file of ours is written here.
 */
export class TextFile {
  readonly #fd: number;
  #bytes: Buffer | undefined;
  #length = 0;
  /** What has left the buffer, and what was in the file before. */
  #written: number;

  constructor(fd: number, size = 0) {
    this.#fd = fd;
    this.#written = size;
  }

  /** How long the file is once everything is written. */
  get size(): number {
    return this.#written + this.#length;
  }

  /** How much of it is gathered here. */
  get held(): number {
    return this.#length;
  }

  /** Adds a text given in pieces. It goes to the file in one write unless it is larger than all that is gathered. */
  append(...pieces: readonly string[]): void {
    this.appendMasked(...(SECRETS.isEmpty ? pieces : pieces.map(maskText)));
  }

  /** Adds the bytes of a text. They are looked through as well: a secret may have become known after they were written elsewhere. */
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

  /** As `append` for what was made of masked values: looking twice at every result would cost as much as writing it. */
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

  /** Hands everything to the operating system: a kill of this process afterwards loses nothing. */
  flush(): void {
    if (this.#bytes === undefined || this.#length === 0) return;
    const length = this.#length;
    this.#length = 0;
    this.#write(this.#bytes.subarray(0, length));
  }

  /** The system may take less than it was given. */
  #write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
    this.#written += bytes.length;
  }
}
