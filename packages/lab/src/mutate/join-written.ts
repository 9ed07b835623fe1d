import { isObject } from '@agentci/lib/data';
import { isSameJson } from './same-json.ts';

/** Lists in which the order counts, so that items cannot be added at the end. */
const ORDERED = new Set(['expected_tool_sequence']);

/**
 * What a key must say to ask for `value` as well as for what is written there: lists replace those of `defaults`, so a line
 * with the new item alone would drop the others. Undefined where the two cannot be had together, where nothing would
 * change, and where a limit would become wider.
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

/** All of `items` in this order, with others between them. */
function isWithin(items: readonly unknown[], list: readonly unknown[]): boolean {
  let found = 0;
  for (const one of list) if (found < items.length && isSameJson(items[found], one)) found++;
  return found === items.length;
}
