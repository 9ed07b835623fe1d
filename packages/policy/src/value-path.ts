import { isObject } from '@agentci/lib/data';

/**
 * The values at a dotted path, `*` for every item: `items.*.body`. An empty path is the value itself. Text that is JSON is
 * looked into; any other text has no parts that the path could leave out, so it counts as a whole.
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

/** A dotted path in its parts; undefined where one is blank. */
export function pathParts(text: string): readonly string[] | undefined {
  const parts = text.split('.').map((part) => part.trim());
  return parts.some((part) => part === '') ? undefined : parts;
}
