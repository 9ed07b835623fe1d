import { isObject } from '../kit/object.ts';
/** Whether two JSON values are equal, whatever the order of keys. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => jsonEqual(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && jsonEqual(a[key], b[key]))
  );
}

/**
 * Whether everything in `part` is in `whole`: maps may have more keys, lists may have more items in any order,
 * anything else must be equal.
 */
export function jsonContains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((wanted) => whole.some((item) => jsonContains(item, wanted)));
  }
  if (!isObject(part)) return jsonEqual(whole, part);
  return (
    isObject(whole) &&
    Object.keys(part).every((key) => Object.hasOwn(whole, key) && jsonContains(whole[key], part[key]))
  );
}
