import { visibleNames } from '../../kit/visible-text.ts';

/** Share of the expected tools that were used: |E ∩ U| / |E|. 1 when nothing is expected. Repeats do not count. */
export function toolRecall(expected: Iterable<string>, used: Iterable<string>): number {
  const expectedSet = toolSet(expected);
  if (expectedSet.size === 0) return 1;
  return sharedTools(expectedSet, toolSet(used)) / expectedSet.size;
}

/** Names are compared as a reader sees them. */
export function toolSet(names: Iterable<string>): ReadonlySet<string> {
  const list = [...names];
  const seen = visibleNames(list);
  return seen === list && names instanceof Set ? (names as ReadonlySet<string>) : new Set(seen);
}

/** How many names are in both sets. */
export function sharedTools(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const name of a) if (b.has(name)) shared++;
  return shared;
}
