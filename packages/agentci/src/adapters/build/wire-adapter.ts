import type { Adapter, RawRecord } from '../adapter.ts';
import { exchangeItems, exchangesIn, pairOf, streamedReplies, type Wire, wholeReplies } from './exchanges.ts';
import { worst } from './likeness.ts';

/** What is a provider's own in its recordings: how to tell them, and how to read them. */
export interface WireFormat {
  readonly format: string;
  readonly summary: string;
  /** The addresses of the provider's model calls; they decide where a reply alone would not. */
  readonly path: RegExp;
  readonly isReply: (value: unknown) => boolean;
  /** One piece of a streamed reply. */
  readonly isChunk: (value: unknown) => boolean;
  /** Whether a piece begins a reply, or comes after the last piece of one. */
  readonly startsStream: (piece: unknown, before: unknown) => boolean;
  readonly wire: Wire;
}

const SURE = 0.95;

/** The adapter of a provider's wire: replies, streams, and requests beside their replies. */
export function wireAdapter(given: WireFormat): Adapter {
  const isOwnReply = (response: unknown): boolean =>
    given.isReply(response) || (Array.isArray(response) && response.length > 0 && response.every(given.isChunk));
  const likeness = (value: unknown): number => {
    const pair = pairOf({ value });
    if (pair === undefined) return given.isReply(value) || given.isChunk(value) ? SURE : 0;
    return isOwnReply(linesOf(pair.response)) || (given.path.test(pair.uri) && isError(pair.status)) ? SURE : 0;
  };
  return {
    format: given.format,
    summary: given.summary,
    unit: 'file',
    detect: (sample) => worst(sample, likeness),
    read: (records) => {
      const pairs = records.filter((record) => pairOf(record) !== undefined);
      const rest = records.filter((record) => pairOf(record) === undefined);
      const chunks = rest.filter(({ value }) => given.isChunk(value));
      const replies = rest.filter(({ value }) => !given.isChunk(value));
      const wire: Wire = { ...given.wire, reply: (response) => given.wire.reply(linesOf(response)) };
      const exchanges = [
        ...exchangesIn(pairs, wire),
        ...streamedReplies(streamsIn(chunks, given.startsStream), wire),
        ...wholeReplies(replies, wire),
      ];
      return exchangeItems(exchanges, given.format);
    },
  };
}

function streamsIn(chunks: readonly RawRecord[], starts: WireFormat['startsStream']): RawRecord[][] {
  const streams: RawRecord[][] = [];
  for (const [i, chunk] of chunks.entries()) {
    const open = streams.at(-1);
    if (open === undefined || starts(chunk.value, chunks[i - 1]?.value)) streams.push([chunk]);
    else open.push(chunk);
  }
  return streams;
}

const isError = (status: number | undefined): boolean => status !== undefined && status >= 400;

/** A body of JSON lines is the list of its lines; any other body stays as it is. */
function linesOf(body: unknown): unknown {
  if (typeof body !== 'string') return body;
  const lines = body.split('\n').filter((line) => line.trim() !== '');
  try {
    return lines.length === 0 ? body : lines.map((line) => JSON.parse(line) as unknown);
  } catch {
    return body;
  }
}
