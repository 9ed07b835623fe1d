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

/** A file that only grows, one JSON document per line. It is opened for appending: two writers could not overwrite each other. */
export class LineFile {
  readonly #fd: number;
  readonly #file: TextFile;
  /** Every line is on disk before the next thing happens. */
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

  /** How much of it the system does not have yet. */
  get held(): number {
    return this.#file.held;
  }

  /** Adds a line given in pieces. */
  append(...pieces: readonly string[]): void {
    this.#attempt(() => {
      this.#file.appendMasked(...pieces, '\n');
      if (this.#isSynced) this.#sync();
    });
  }

  flush(): void {
    this.#attempt(() => this.#file.flush());
  }

  /** Makes sure of all that was added: after this it outlasts a loss of power. The disk is waited for in the background. */
  async sync(): Promise<void> {
    this.flush();
    try {
      await dataToDisk(this.#fd);
    } catch (error) {
      this.#failure ??= notWritten(error, this.#path);
      throw this.#failure;
    }
  }

  /** On the disk itself: what counts must outlast a loss of power. */
  #sync(): void {
    this.#file.flush();
    fdatasyncSync(this.#fd);
  }

  /** After a failure half a line may be there, which the next reader drops; another line after it would spoil both. */
  #attempt(write: () => void): void {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      write();
    } catch (error) {
      this.#failure = notWritten(error, this.#path);
      throw this.#failure;
    }
  }

  /** Closes the file as it is: what the system does not have yet is dropped. */
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
    hint: 'What was finished before is kept; with the cause removed, --resume continues the run.',
  });
}

/** Opens a file of lines to add more; a line that was cut off is dropped. */
export function openAtLastLine(path: string): number {
  refuseLinks(path);
  const fd = openSync(path, 'a+');
  const bytes = readFileSync(path);
  ftruncateSync(fd, bytes.lastIndexOf(0x0a) + 1);
  return fd;
}
