import { isObject } from '../kit/object.ts';

/** The values at a dotted path, `*` for every item: `items.*.body`. An empty path is the value itself. */
export function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  const [first, ...rest] = path;
  if (first === undefined) return [value];
  if (first === '*')
    return Array.isArray(value) || isObject(value) ? Object.values(value).flatMap((each) => valuesAt(each, rest)) : [];
  if (Array.isArray(value) && /^\d+$/.test(first)) return first in value ? valuesAt(value[Number(first)], rest) : [];
  return isObject(value) && Object.hasOwn(value, first) ? valuesAt(value[first], rest) : [];
}

/** A dotted path in its parts; undefined where one is blank. */
export function pathParts(text: string): readonly string[] | undefined {
  const parts = text.split('.').map((part) => part.trim());
  return parts.some((part) => part === '') ? undefined : parts;
}
