import { isObject } from '@agentci/lib/data';
import { isSameJson } from './same-json.ts';

/** Ordered lists, to which no items can be appended. */
const ORDERED = new Set(['expected_tool_sequence']);

/**
 * Merges `value` with the existing value of a key. Lists replace those of `defaults`, so a line
 * with only the new item would drop the others. Undefined if the two conflict, if nothing would
 * change, or if a limit would become looser.
 */
export function joinWritten(key: string, written: unknown, value: unknown): unknown {
  if (written === undefined || written === null) return value;
  if (Array.isArray(value)) {
    const own = Array.isArray(written) ? written : [written];
    if (ORDERED.has(key))
      return own.length < value.length && isWithin(own, value) ? value : undefined;
    const added = value.filter((item) => !own.some((other) => isSameJson(item, other)));
    return added.length === 0 ? undefined : [...own, ...added];
  }
  if (typeof value === 'number')
    return typeof written === 'number' && value < written ? value : undefined;
  if (key === 'json_schema' && isObject(written) && isObject(value))
    return joinSchemas(written, value);
  return undefined;
}

/** A schema that requires the fields of both. */
function joinSchemas(written: Record<string, unknown>, value: Record<string, unknown>): unknown {
  const required = joinWritten('required', written.required, value.required);
  return required === undefined ? undefined : { ...value, ...written, required };
}

/** Whether `list` contains all of `items` in this order, with others between them. */
function isWithin(items: readonly unknown[], list: readonly unknown[]): boolean {
  let found = 0;
  for (const one of list) if (found < items.length && isSameJson(items[found], one)) found++;
  return found === items.length;
}
