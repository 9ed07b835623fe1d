import { openSync, readSync } from 'node:fs';

const BLOCK = 256 * 1024;

/**
 * Reads pieces of a file that is still being written, mostly in the order they are in. The file stays open, so that what
 * was put there can be read even when someone tidies the folder up.
 */
export class JournalTexts {
  readonly #path: string;
  #fd: number | undefined;
  #block: Buffer | undefined;
  #start = 0;
  #length = 0;

  constructor(path: string) {
    this.#path = path;
  }

  read(at: number, length: number): string {
    if (length > BLOCK) return this.#fill(Buffer.allocUnsafe(length), at, length);
    if (at < this.#start || at + length > this.#start + this.#length) {
      this.#block ??= Buffer.allocUnsafeSlow(BLOCK);
      this.#start = at;
      this.#length = this.#take(this.#block, at, BLOCK);
      if (this.#length < length) throw this.#cutShort();
    }
    return this.#block!.toString('utf8', at - this.#start, at - this.#start + length);
  }

  #fill(bytes: Buffer, at: number, length: number): string {
    if (this.#take(bytes, at, length) < length) throw this.#cutShort();
    return bytes.toString('utf8');
  }

  /** How many bytes there were; fewer only at the end of the file. */
  #take(bytes: Buffer, at: number, length: number): number {
    this.#fd ??= openSync(this.#path, 'r');
    let done = 0;
    while (done < length) {
      const read = readSync(this.#fd, bytes, done, length - done, at + done);
      if (read === 0) break;
      done += read;
    }
    return done;
  }

  #cutShort(): Error {
    return new Error(`${this.#path} is shorter than what was written to it`);
  }
}
