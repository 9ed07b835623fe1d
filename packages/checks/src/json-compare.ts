import { isObject } from '@agentci/lib/data';

/** Whether two JSON values are equal, ignoring key order. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => jsonEqual(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && jsonEqual(a[key], b[key]))
  );
}

/**
 * Whether `whole` contains `part`: maps may have more keys; lists may have more items in any order,
 * with a different item for each expected one; other values must be equal.
 */
export function jsonContains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) return Array.isArray(whole) && hasOneForEach(whole, part);
  if (!isObject(part)) return jsonEqual(whole, part);
  return (
    isObject(whole) &&
    Object.keys(part).every(
      (key) => Object.hasOwn(whole, key) && jsonContains(whole[key], part[key]),
    )
  );
}

/** Finds a different item for each expected one, reassigning items if needed. */
function hasOneForEach(items: readonly unknown[], wanted: readonly unknown[]): boolean {
  if (wanted.length > items.length) return false;
  const ownerOf = new Map<number, number>();
  const place = (want: number, tried: Set<number>): boolean =>
    items.some((item, at) => {
      if (tried.has(at) || !jsonContains(item, wanted[want])) return false;
      tried.add(at);
      const owner = ownerOf.get(at);
      if (owner !== undefined && !place(owner, tried)) return false;
      ownerOf.set(at, want);
      return true;
    });
  return wanted.every((_, want) => place(want, new Set()));
}
