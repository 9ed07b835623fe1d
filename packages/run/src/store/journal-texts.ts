import { closeSync, readSync } from 'node:fs';
import { openFile } from '@agentci/lib/files';

const BLOCK = 64 * 1024;
/** Number of cached blocks. A merged run is read in spec order, but was written shard by shard. */
const MAX_BLOCKS = 32;

/** A part of the file. */
interface Block {
  readonly bytes: Buffer;
  readonly start: number;
  readonly length: number;
}

const unreachable = new FinalizationRegistry<number>(closeSync);

/**
 * Reads parts of a file that is still being written, mostly in order, or at a few places in turn.
 * Keeps the file open, so that it stays readable even if the folder is cleaned up.
 */
export class JournalTexts {
  readonly #path: string;
  #fd: number | undefined;
  /** Most recently used first. */
  readonly #blocks: Block[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** A part as bytes, valid until the next read. */
  read(at: number, length: number): Buffer {
    if (length > BLOCK) return this.#large(at, length);
    const block = this.#blockWith(at, length);
    return block.bytes.subarray(at - block.start, at - block.start + length);
  }

  #blockWith(at: number, length: number): Block {
    const found = this.#blocks.findIndex(
      (block) => at >= block.start && at + length <= block.start + block.length,
    );
    const [known] = found < 0 ? [] : this.#blocks.splice(found, 1);
    const block = known ?? this.#load(at, length);
    this.#blocks.unshift(block);
    return block;
  }

  #load(at: number, length: number): Block {
    const bytes =
      this.#blocks.length < MAX_BLOCKS ? Buffer.allocUnsafeSlow(BLOCK) : this.#blocks.pop()!.bytes;
    const taken = this.#take(bytes, at, BLOCK);
    if (taken < length) throw this.#cutShort();
    return { bytes, start: at, length: taken };
  }

  #large(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    if (this.#take(bytes, at, length) < length) throw this.#cutShort();
    return bytes;
  }

  /** Number of bytes read. Smaller only at the end of the file. */
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

  /**
   * Closed once the results are unreachable, because `--watch` starts hundreds of runs in one
   * process.
   */
  #open(): number {
    const fd = openFile(this.#path, 'r');
    unreachable.register(this, fd);
    return fd;
  }

  #cutShort(): Error {
    return new Error(`${this.#path} is shorter than the data written to it`);
  }
}
