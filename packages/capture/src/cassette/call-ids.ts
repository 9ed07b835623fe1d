import { isObject } from '@agentci/lib/data';

/** Names of fields with the id of a call, or a reference to it. */
const ID_KEYS: ReadonlySet<string> = new Set([
  'id',
  'call_id',
  'callId',
  'tool_call_id',
  'toolCallId',
  'tool_use_id',
  'toolUseId',
]);

/** Objects under these names are calls. */
const CALLS: ReadonlySet<string> = new Set([
  'functionCall',
  'function_call',
  'tool_calls',
  'toolCalls',
  'toolUse',
]);
const CALL_TYPES: ReadonlySet<unknown> = new Set(['tool_use', 'function_call', 'tool-call']);

/**
 * Numbers the call ids of a request in order, because some clients generate random ids if their
 * provider gives none. Results keep their calls.
 */
export function withPlainCallIds(body: unknown): unknown {
  const ids = new Map<string, string>();
  collect(body, false, ids);
  return ids.size === 0 ? body : renamed(body, ids);
}

function collect(value: unknown, isCall: boolean, ids: Map<string, string>): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, isCall, ids);
    return;
  }
  if (!isObject(value)) return;
  if (isCall || CALL_TYPES.has(value.type))
    for (const key of ID_KEYS) {
      const id = value[key];
      if (typeof id === 'string' && id !== '' && !ids.has(id)) ids.set(id, `call-${ids.size + 1}`);
    }
  for (const [key, inner] of Object.entries(value)) collect(inner, CALLS.has(key), ids);
}

function renamed(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, ids));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      typeof inner === 'string' && ID_KEYS.has(key)
        ? (ids.get(inner) ?? inner)
        : renamed(inner, ids),
    ]),
  );
}
