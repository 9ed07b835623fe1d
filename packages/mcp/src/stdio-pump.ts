import type { Readable, Writable } from 'node:stream';
import { LineSplitter } from './lines.ts';
import type { Direction } from './message.ts';
import type { ServerProcess } from './server-process.ts';

/** Routing of a message: `on` is forwarded, `back` goes to its sender. */
export interface Passage {
  readonly on?: Buffer | undefined;
  readonly back?: Buffer | undefined;
}

/**
 * Handles passing messages. Only one of the two: watching does not delay messages, deciding does.
 */
export type Middle =
  | {
      readonly watch: (dir: Direction, line: Buffer) => void;
      /** A message that was too long to inspect has passed. */
      readonly missed: (dir: Direction, bytes: number) => void;
    }
  | {
      readonly decide: (dir: Direction, line: Buffer) => Passage;
      /**
       * Decides a message that is too long to parse: the reply to its sender, or that it may pass.
       */
      readonly decideLong: (dir: Direction) => Passage & { readonly mayPass: boolean };
    };

export interface PumpOptions {
  readonly client: { readonly input: Readable; readonly output: Writable };
  readonly server: ServerProcess;
  readonly middle: Middle;
  /** Ends both sides. */
  readonly signal: AbortSignal;
  /** The current parent process id. */
  readonly parent: () => number;
  /** Overrides the limit of 64 MB, for tests. */
  readonly maxMessageBytes?: number;
}

const PARENT_POLL_MS = 5000;

/**
 * Passes messages between a client and a server until one of them disconnects. Returns the exit
 * code.
 */
export async function pumpStdio(options: PumpOptions): Promise<number> {
  const { client, server, signal } = options;
  const parent = options.parent();
  const watch = setInterval(() => {
    if (options.parent() !== parent) server.stop(true);
  }, PARENT_POLL_MS);
  watch.unref();
  const onAbort = (): void => server.stop(true);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  // If the client has stopped reading, the server is no longer needed.
  client.output.on('error', () => server.stop(true));
  const toClient = new Outlet(client.output);
  const toServer = new Outlet(server.stdin);
  pass({ dir: 'c2s', from: client.input, to: toServer, back: toClient, options });
  pass({ dir: 's2c', from: server.stdout, to: toClient, back: toServer, options });
  client.input.once('end', () => server.stop());
  client.input.once('error', () => server.stop());
  client.input.once('close', () => server.stop());
  const code = await server.ended;
  clearInterval(watch);
  signal.removeEventListener('abort', onAbort);
  await toClient.flushed();
  return code;
}

/** The way in one direction. */
function pass({
  dir,
  from,
  to,
  back,
  options: { middle, maxMessageBytes },
}: {
  readonly dir: Direction;
  readonly from: Readable;
  readonly to: Outlet;
  readonly back: Outlet;
  readonly options: PumpOptions;
}): void {
  if ('watch' in middle) {
    let missed = 0;
    const splitter = new LineSplitter(
      {
        line: (line) => middle.watch(dir, line),
        long: (piece, { isLast }) => {
          missed += piece.length;
          if (!isLast) return;
          middle.missed(dir, missed);
          missed = 0;
        },
      },
      maxMessageBytes,
    );
    from.on('data', (chunk: Buffer) => {
      // Forwarded first, so that logging does not delay it.
      to.write(chunk, from);
      splitter.write(chunk);
    });
    from.once('end', () => splitter.end());
    return;
  }
  let mayPass = false;
  const splitter = new LineSplitter(
    {
      line: (line) => {
        const passage = middle.decide(dir, line);
        if (passage.on !== undefined) to.write(passage.on, from);
        if (passage.back !== undefined) back.write(passage.back, from);
      },
      long: (piece, { isFirst }) => {
        if (isFirst) {
          const passage = middle.decideLong(dir);
          mayPass = passage.mayPass;
          if (passage.back !== undefined) back.write(passage.back, from);
          if (passage.on !== undefined) to.write(passage.on, from);
        }
        if (mayPass) to.write(piece, from);
      },
    },
    maxMessageBytes,
  );
  from.on('data', (chunk: Buffer) => splitter.write(chunk));
  from.once('end', () => splitter.end());
}

/** Writes bytes with backpressure to the sender. */
class Outlet {
  readonly #stream: Writable;
  readonly #waiting = new Set<Readable>();
  #open = 0;
  #onIdle: (() => void) | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('drain', () => this.#release());
    stream.on('close', () => this.#release());
  }

  write(bytes: Buffer, from: Readable): void {
    if (bytes.length === 0 || this.#stream.destroyed || this.#stream.writableEnded) return;
    this.#open++;
    const isTaken = this.#stream.write(bytes, () => {
      if (--this.#open === 0) this.#onIdle?.();
    });
    if (isTaken) return;
    this.#waiting.add(from);
    from.pause();
  }

  /** Settles when everything was written, or never can be. */
  flushed(): Promise<void> {
    if (this.#open === 0 || this.#stream.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#stream.once('close', resolve);
      setTimeout(resolve, FLUSH_MS).unref();
    });
  }

  #release(): void {
    for (const from of this.#waiting) from.resume();
    this.#waiting.clear();
  }
}

/** A client that stopped reading does not block the exit. */
const FLUSH_MS = 2000;
