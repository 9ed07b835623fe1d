import { sharedTools, toolSet } from './tool-recall.ts';

/** Share of the used tools that were expected: |E ∩ U| / |U|. Nothing used: 1 if nothing was expected, else 0. */
export function toolPrecision(expected: Iterable<string>, used: Iterable<string>): number {
  const expectedSet = toolSet(expected);
  const usedSet = toolSet(used);
  if (usedSet.size === 0) return expectedSet.size === 0 ? 1 : 0;
  return sharedTools(expectedSet, usedSet) / usedSet.size;
}
