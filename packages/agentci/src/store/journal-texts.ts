import { closeSync, openSync, readSync } from 'node:fs';

const BLOCK = 256 * 1024;

const unreachable = new FinalizationRegistry<number>(closeSync);

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

  /** A piece as bytes. They are good until the next piece is read. */
  read(at: number, length: number): Buffer {
    if (length > BLOCK) return this.#large(at, length);
    if (at < this.#start || at + length > this.#start + this.#length) {
      this.#block ??= Buffer.allocUnsafeSlow(BLOCK);
      this.#start = at;
      this.#length = this.#take(this.#block, at, BLOCK);
      if (this.#length < length) throw this.#cutShort();
    }
    return this.#block!.subarray(at - this.#start, at - this.#start + length);
  }

  #large(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    if (this.#take(bytes, at, length) < length) throw this.#cutShort();
    return bytes;
  }

  /** How many bytes there were; fewer only at the end of the file. */
  #take(bytes: Buffer, at: number, length: number): number {
    this.#fd ??= this.#open();
    let done = 0;
    while (done < length) {
      const read = readSync(this.#fd, bytes, done, length - done, at + done);
      if (read === 0) break;
      done += read;
    }
    return done;
  }

  /** Closed once the results are out of reach: `--watch` starts hundreds of runs in one process. */
  #open(): number {
    const fd = openSync(this.#path, 'r');
    unreachable.register(this, fd);
    return fd;
  }

  #cutShort(): Error {
    return new Error(`${this.#path} is shorter than what was written to it`);
  }
}
