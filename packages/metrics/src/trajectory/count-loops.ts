import { visibleNames } from '@agentci/lib/text';

/** How many calls repeat the call right before them. `A B A B` has none. */
export function countLoops(called: readonly string[]): number {
  const names = visibleNames(called);
  let loops = 0;
  for (let i = 1; i < names.length; i++) if (names[i] === names[i - 1]) loops++;
  return loops;
}
