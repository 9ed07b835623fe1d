import { type Message, messageText } from '../message.ts';

/** Lines have three possible ends, and the blank line may use a different one. */
const END = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)/;

/** Splits a stream of server-sent events, byte for byte, each with its final blank line. */
export class EventSplitter {
  readonly #max: number;
  #held = '';

  constructor(max: number) {
    this.#max = max;
  }

  /** The events completed by a chunk. Undefined once one is too long. */
  write(chunk: Buffer): Buffer[] | undefined {
    // Latin-1 maps each byte to one character, so splitting is safe.
    this.#held += chunk.toString('latin1');
    const events: Buffer[] = [];
    for (let end = END.exec(this.#held); end !== null; end = END.exec(this.#held)) {
      const at = end.index + end[0].length;
      events.push(Buffer.from(this.#held.slice(0, at), 'latin1'));
      this.#held = this.#held.slice(at);
    }
    return this.#held.length > this.#max ? undefined : events;
  }

  /** The rest of a stream that ended without a blank line. */
  rest(): Buffer {
    return Buffer.from(this.#held, 'latin1');
  }
}

export interface EventParts {
  readonly event: string | undefined;
  readonly data: string | undefined;
}

/** A stream may start with a byte-order mark, which parsers ignore. */
const linesOf = (bytes: Buffer): string[] =>
  bytes
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/);

/** The type and the data of an event. */
export function readEvent(bytes: Buffer): EventParts {
  const lines = linesOf(bytes);
  const valuesOf = (field: string): string[] =>
    lines
      .filter((line) => line.startsWith(`${field}:`))
      .map((line) => line.slice(field.length + 1).replace(/^ /, ''));
  const data = valuesOf('data');
  return { event: valuesOf('event').at(-1), data: data.length === 0 ? undefined : data.join('\n') };
}

/** An event with replaced data. Its other lines stay. */
export function withData(bytes: Buffer, data: string): Buffer {
  const lines = linesOf(bytes).filter(
    (line) => line !== '' && line !== 'data' && !line.startsWith('data:'),
  );
  return Buffer.from(
    `${[...lines, ...data.split('\n').map((line) => `data: ${line}`)].join('\n')}\n\n`,
  );
}

export const eventOf = (message: Message): string =>
  `event: message\ndata: ${messageText(message)}\n\n`;
