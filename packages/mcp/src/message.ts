import { isObject } from '@agentci/lib/data';
import { isDeeperThan, MAX_JSON_DEPTH } from '@agentci/lib/json';
import { rootSpan, valueSpan } from './raw-json.ts';

export type Direction = 'c2s' | 's2c';
export type Message = Readonly<Record<string, unknown>>;

/** The first protocol version without sessions, and with typed results. */
const MODERN = '2026-07-28';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

export const isModern = (version: string | undefined): boolean =>
  version !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= MODERN;

/** A valid id, typed, because 1 and "1" differ. */
export const idKey = (id: unknown): string | undefined =>
  typeof id === 'string' || typeof id === 'number' ? JSON.stringify(id) : undefined;

/** The protocol version declared in a modern client's request. */
export function requestVersion({ params }: Message): string | undefined {
  const meta = isObject(params) ? params._meta : undefined;
  const version = isObject(meta) ? meta[VERSION_KEY] : undefined;
  return typeof version === 'string' ? version : undefined;
}

/**
 * The messages in a text: one, or a batch. Undefined if it is not JSON or nested too deeply.
 * `parse` replaces the JSON parser.
 */
export function messagesIn(
  text: string,
  parse: (text: string) => unknown = JSON.parse,
): readonly Message[] | undefined {
  if (isDeeperThan(text, MAX_JSON_DEPTH)) return undefined;
  try {
    const value = parse(text);
    return (Array.isArray(value) ? value : [value]).filter(isObject);
  } catch {
    return undefined;
  }
}

/** An id as its sender wrote it, because a number may have more digits than we can represent. */
export class WrittenId {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The id for the answer to a request. `text` is the request. */
export function replyId(id: unknown, text: string): unknown {
  if (typeof id !== 'number') return id;
  const span = valueSpan(text, rootSpan(text), 'id');
  const written = span === undefined ? '' : text.slice(span.start, span.end);
  return written === '' || written === String(id) ? id : new WrittenId(written);
}

/** Serializes one of our messages. */
export function messageText(message: Message): string {
  const { id, ...rest } = message;
  if (!(id instanceof WrittenId)) return JSON.stringify(message);
  return `{"id":${id.text},${JSON.stringify(rest).slice(1)}`;
}

/** A JSON-RPC error as an answer. */
export const errorReply = (
  id: unknown,
  code: number,
  message: string,
  data?: unknown,
): Message => ({
  jsonrpc: '2.0',
  id: id instanceof WrittenId || idKey(id) !== undefined ? id : null,
  error: { code, message, data },
});
