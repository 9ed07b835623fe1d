import { isObject } from '@agentci/lib/data';

/**
 * The values at a dotted path, `*` for every item: `items.*.body`. An empty path is the value
 * itself. Parses JSON text. Any other text counts as a whole, because the path cannot exclude parts
 * of it.
 */
export function valuesInside(value: unknown, path: readonly string[]): unknown[] {
  const [first, ...rest] = path;
  if (first === undefined) return [value];
  if (typeof value === 'string') {
    const parsed = jsonIn(value);
    return parsed === undefined ? [value] : valuesInside(parsed, path);
  }
  if (first === '*')
    return Array.isArray(value) || isObject(value)
      ? Object.values(value).flatMap((each) => valuesInside(each, rest))
      : [];
  if (Array.isArray(value) && /^\d+$/.test(first))
    return first in value ? valuesInside(value[Number(first)], rest) : [];
  return isObject(value) && Object.hasOwn(value, first) ? valuesInside(value[first], rest) : [];
}

function jsonIn(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) || Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Splits a dotted path. Undefined if a part is blank. */
export function pathParts(text: string): readonly string[] | undefined {
  const parts = text.split('.').map((part) => part.trim());
  return parts.some((part) => part === '') ? undefined : parts;
}
