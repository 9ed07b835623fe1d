import type { Readable } from 'node:stream';
import {
  AbstractMessageReader,
  type DataCallback,
  type Disposable,
  type Message,
} from 'vscode-languageserver/node';

const MAX_MESSAGE_BYTES = 64_000_000;
const MAX_HEADER_BYTES = 8192;
const END_OF_HEADER = Buffer.from('\r\n\r\n');
const LENGTH = /content-length:\s*(\d{1,12})\s*$/i;

/**
 * Parses protocol messages. Skips anything unframed, because a stray line of a wrapper script must
 * not end the session. Skips messages that are too large, and drops messages that are not JSON.
 */
export class BoundedMessageReader extends AbstractMessageReader {
  readonly #input: Readable;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Length of the current message. Undefined between messages. */
  #length: number | undefined;
  #toSkip = 0;
  #callback: DataCallback | undefined;

  constructor(input: Readable) {
    super();
    this.#input = input;
  }

  listen(callback: DataCallback): Disposable {
    this.#callback = callback;
    this.#input.on('data', this.#onData);
    this.#input.on('end', this.#onEnd);
    this.#input.on('close', this.#onEnd);
    this.#input.on('error', this.#onEnd);
    return { dispose: () => this.#input.off('data', this.#onData) };
  }

  readonly #onEnd = (): void => this.fireClose();

  readonly #onData = (chunk: Buffer): void => {
    let data = chunk;
    if (this.#toSkip > 0) {
      const skipped = Math.min(this.#toSkip, data.length);
      this.#toSkip -= skipped;
      data = data.subarray(skipped);
    }
    if (data.length === 0) return;
    this.#pieces.push(data);
    this.#bytes += data.length;
    // Joins the pieces of a long message once, when it is complete.
    if (this.#length !== undefined && this.#bytes < this.#length) return;
    while (this.#takeOne()) {
      // The next message may have arrived with it.
    }
  };

  /** Returns whether there may be another message. */
  #takeOne(): boolean {
    if (this.#length === undefined && !this.#takeHeader()) return false;
    const length = this.#length!;
    if (this.#bytes < length) return false;
    const all = this.#joined();
    this.#keep(all.subarray(length));
    this.#length = undefined;
    this.#deliver(all.toString('utf8', 0, length));
    return this.#bytes > 0;
  }

  #takeHeader(): boolean {
    const all = this.#joined();
    const end = all.indexOf(END_OF_HEADER);
    if (end === -1) {
      // No header is that long, so this is not a message.
      if (all.length > MAX_HEADER_BYTES)
        this.#keep(all.subarray(all.length - END_OF_HEADER.length));
      return false;
    }
    const lines = all.toString('latin1', Math.max(0, end - MAX_HEADER_BYTES), end).split('\r\n');
    const length = lines
      .map((line) => LENGTH.exec(line)?.[1])
      .findLast((found) => found !== undefined);
    const rest = all.subarray(end + END_OF_HEADER.length);
    if (length === undefined) {
      this.#keep(rest);
      return this.#takeHeader();
    }
    if (Number(length) > MAX_MESSAGE_BYTES) {
      this.#toSkip = Math.max(0, Number(length) - rest.length);
      this.#keep(rest.subarray(Math.min(rest.length, Number(length))));
      return this.#bytes > 0 && this.#takeHeader();
    }
    this.#keep(rest);
    this.#length = Number(length);
    return true;
  }

  #deliver(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    const isMessage = typeof message === 'object' && message !== null && 'jsonrpc' in message;
    if (isMessage) this.#callback?.(message as unknown as Message);
  }

  #joined(): Buffer {
    const all = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }

  #keep(rest: Buffer): void {
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
  }
}
