import type { Trial } from '@agentci/results';

/** Groups trials by condition, in order of first appearance. */
export function groupTrials(trials: readonly Trial[]): ReadonlyMap<string, readonly Trial[]> {
  const groups = new Map<string, Trial[]>();
  for (const trial of trials) {
    const group = groups.get(trial.condition);
    if (group) group.push(trial);
    else groups.set(trial.condition, [trial]);
  }
  return groups;
}
