import { isKeyName, PLACEHOLDER, withoutCredentials } from '@agentci/lib/secrets';

/** The path with sorted parameters and without the values of keys. */
export function plainPath(path: string): string {
  const at = path.indexOf('?');
  if (at < 0) return withoutCredentials(path);
  const kept = [...new URLSearchParams(path.slice(at + 1))]
    .map(([name, value]): [string, string] =>
      isKeyName(name) ? [name, PLACEHOLDER] : [name, withoutCredentials(value)],
    )
    // A key may be in the address on one machine and in a header on another.
    .filter(([, value]) => value !== PLACEHOLDER)
    .sort(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)));
  const query = new URLSearchParams(kept).toString();
  return `${withoutCredentials(path.slice(0, at))}${query === '' ? '' : `?${query}`}`;
}

const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);
