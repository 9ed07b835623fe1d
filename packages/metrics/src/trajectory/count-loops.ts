import { visibleNames } from '@agentci/lib/text';

/** Number of calls that repeat the previous call. `A B A B` has none. */
export function countLoops(called: readonly string[]): number {
  const names = visibleNames(called);
  let loops = 0;
  for (let i = 1; i < names.length; i++) if (names[i] === names[i - 1]) loops++;
  return loops;
}
