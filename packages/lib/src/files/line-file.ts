import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { systemErrorText } from '../problems/system-error.ts';
import { UserError } from '../problems/user-error.ts';
import { refuseLinks } from './refuse-links.ts';
import { TextFile } from './text-file.ts';

const dataToDisk = promisify(fdatasync);

/**
 * An append-only file with one JSON document per line. Opened for appending, so that two writers
 * cannot overwrite each other.
 */
export class LineFile {
  readonly #fd: number;
  readonly #file: TextFile;
  /** Syncs every line to disk. */
  readonly #isSynced: boolean;
  readonly #path: string;
  #failure: Error | undefined;

  constructor(fd: number, path: string, { isSynced }: { readonly isSynced: boolean }) {
    this.#fd = fd;
    this.#path = path;
    this.#file = new TextFile(fd, fstatSync(fd).size);
    this.#isSynced = isSynced;
  }

  get size(): number {
    return this.#file.size;
  }

  /** Bytes not yet passed to the system. */
  get held(): number {
    return this.#file.held;
  }

  /** Appends a line from pieces. */
  append(...pieces: readonly string[]): void {
    this.#attempt(() => {
      this.#file.appendMasked(...pieces, '\n');
      if (this.#isSynced) this.#sync();
    });
  }

  flush(): void {
    this.#attempt(() => this.#file.flush());
  }

  /** Syncs everything appended so far, in the background. */
  async sync(): Promise<void> {
    this.flush();
    try {
      await dataToDisk(this.#fd);
    } catch (error) {
      this.#failure ??= notWritten(error, this.#path);
      throw this.#failure;
    }
  }

  /** To the disk, because results must survive a power loss. */
  #sync(): void {
    this.#file.flush();
    fdatasyncSync(this.#fd);
  }

  /**
   * A failed write may leave half a line, which the next reader drops. Another line after it would
   * damage both.
   */
  #attempt(write: () => void): void {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      write();
    } catch (error) {
      this.#failure = notWritten(error, this.#path);
      throw this.#failure;
    }
  }

  /** Closes the file and drops unwritten data. */
  abandon(): void {
    closeSync(this.#fd);
  }

  close(): void {
    try {
      this.#attempt(() => this.#sync());
    } finally {
      closeSync(this.#fd);
    }
  }
}

function notWritten(error: unknown, path: string): Error {
  const reason = systemErrorText(error);
  if (reason === undefined) return error as Error;
  return new UserError('RUN_NOT_WRITTEN', `${path} cannot be written: ${reason}`, {
    hint: 'Finished queries are kept. Remove the cause, then continue with --resume.',
  });
}

/** Opens a line file to append, dropping an incomplete last line. */
export function openAtLastLine(path: string): number {
  refuseLinks(path);
  const fd = openSync(path, 'a+');
  const bytes = readFileSync(path);
  ftruncateSync(fd, bytes.lastIndexOf(0x0a) + 1);
  return fd;
}
