import { isDeeperThan, MAX_JSON_DEPTH } from '@agentci/lib/json';
import { type Fields, isFields } from '@agentci/trace';
import type { RawRecord } from '../../adapter.ts';

/** One JSON-RPC message with its time and location. */
export interface McpMessage {
  readonly message: Fields;
  readonly at?: number;
  readonly record: RawRecord;
}

const MAX_NESTING = 6;
/** Keys under which transcripts keep messages. */
const LISTS = ['entries', 'events', 'messages', 'history'];
const HOLDERS = ['message', 'request', 'response', 'data', 'payload', 'sse'];

export const isMessage = (value: unknown): boolean =>
  isFields(value) &&
  (value.jsonrpc === '2.0' || (typeof value.method === 'string' && 'params' in value)) &&
  ('method' in value || 'result' in value || 'error' in value);

/** The JSON-RPC messages of a record, whatever envelope they are in: bare, a tap's, a transport's or the Inspector's. */
export function* messagesOf(record: RawRecord): Generator<McpMessage> {
  yield* walk(record.value, record, undefined, 0);
}

function* walk(
  value: unknown,
  record: RawRecord,
  before: number | undefined,
  depth: number,
): Generator<McpMessage> {
  if (typeof value === 'string') {
    const parsed = value.includes('jsonrpc') ? parse(value) : undefined;
    if (isMessage(parsed)) yield* walk(parsed, record, before, depth + 1);
    return;
  }
  if (!isFields(value) || depth > MAX_NESTING) return;
  const at = timeOf(value) ?? before;
  if (isMessage(value)) {
    yield at === undefined ? { message: value, record } : { message: value, at, record };
    return;
  }
  for (const key of LISTS) {
    const list = value[key];
    if (Array.isArray(list)) for (const item of list) yield* walk(item, record, at, depth + 1);
  }
  for (const key of HOLDERS) {
    const inner = value[key];
    if (isFields(inner) || typeof inner === 'string') yield* walk(inner, record, at, depth + 1);
  }
}

function parse(text: string): unknown {
  if (isDeeperThan(text, MAX_JSON_DEPTH)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function timeOf(value: Fields): number | undefined {
  const given = value.timestamp_ms ?? value.timestamp ?? value.ts ?? value.time;
  if (typeof given === 'number') return Number.isFinite(given) ? given : undefined;
  if (typeof given !== 'string' || !/^\d{4}-\d{2}-\d{2}T/.test(given)) return undefined;
  const time = Date.parse(given);
  return Number.isNaN(time) ? undefined : time;
}
