import { isObject } from '@agentci/lib/data';

/** Whether two JSON values are equal, whatever the order of keys. */
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
 * Whether everything in `part` is in `whole`: maps may have more keys, lists may have more items in any order, each wanted item
 * needs one of its own, anything else must be equal.
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

/** Finds an item for each of the wanted ones, taking one back where another fits its first owner too. */
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
