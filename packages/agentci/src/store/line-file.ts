import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { systemErrorText } from '../kit/system-error.ts';
import { UserError } from '../kit/user-error.ts';
import { TextFile } from './text-file.ts';

/**
 * `each`: on disk before the next thing happens. `handed-over`: with the system, so that a kill loses nothing and a loss of
 * power may, unless `sync` was called; for replayed agents, who can be run again for nothing, and for results that wait in a queue
 * until they are on disk. `batched`: for recordings, which need not even run.
 */
export type Durability = 'each' | 'handed-over' | 'batched';

/** A file that only grows, one JSON document per line. It is opened for appending: two writers could not overwrite each other. */
export class LineFile {
  readonly #fd: number;
  readonly #file: TextFile;
  readonly #durability: Durability;
  readonly #path: string;
  #failure: Error | undefined;

  constructor(fd: number, path: string, durability: Durability) {
    this.#fd = fd;
    this.#path = path;
    this.#file = new TextFile(fd, fstatSync(fd).size);
    this.#durability = durability;
  }

  get size(): number {
    return this.#file.size;
  }

  /** Adds a line given in pieces. */
  append(...pieces: readonly string[]): void {
    this.#attempt(() => {
      this.#file.appendMasked(...pieces, '\n');
      if (this.#durability === 'each') this.#sync();
      else if (this.#durability === 'handed-over') this.#file.flush();
    });
  }

  flush(): void {
    this.#attempt(() => this.#file.flush());
  }

  /** Makes sure of all that was added: after this it outlasts a loss of power. */
  sync(): void {
    this.#attempt(() => this.#sync());
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

  close(): void {
    try {
      if (this.#failure === undefined) this.#attempt(() => this.#sync());
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
  const fd = openSync(path, 'a+');
  const bytes = readFileSync(path);
  ftruncateSync(fd, bytes.lastIndexOf(0x0a) + 1);
  return fd;
}
