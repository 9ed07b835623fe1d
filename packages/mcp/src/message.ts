import { isObject } from '@agentci/lib/data';
import { isDeeperThan, MAX_JSON_DEPTH } from '@agentci/lib/json';
import { rootSpan, valueSpan } from './raw-json.ts';

export type Direction = 'c2s' | 's2c';
export type Message = Readonly<Record<string, unknown>>;

/** The protocol version from which on there are no sessions and results say what they are. */
const MODERN = '2026-07-28';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

export const isModern = (version: string | undefined): boolean =>
  version !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= MODERN;

/** An id that can be answered, typed: 1 and "1" are two. */
export const idKey = (id: unknown): string | undefined =>
  typeof id === 'string' || typeof id === 'number' ? JSON.stringify(id) : undefined;

/** The version that a request of a modern client says it follows. */
export function requestVersion({ params }: Message): string | undefined {
  const meta = isObject(params) ? params._meta : undefined;
  const version = isObject(meta) ? meta[VERSION_KEY] : undefined;
  return typeof version === 'string' ? version : undefined;
}

/**
 * The messages in a text: one, or those of a batch; undefined where it is not JSON or too deep to look into. `parse` is
 * another reader of JSON.
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

/** An id as its sender wrote it: a number may have more digits than we can hold. */
export class WrittenId {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The id of a request, to be answered with. `text` is the request. */
export function replyId(id: unknown, text: string): unknown {
  if (typeof id !== 'number') return id;
  const span = valueSpan(text, rootSpan(text), 'id');
  const written = span === undefined ? '' : text.slice(span.start, span.end);
  return written === '' || written === String(id) ? id : new WrittenId(written);
}

/** A message of ours as it is sent. */
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
