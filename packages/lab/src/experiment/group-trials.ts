import type { Trial } from '@agentci/results';

/** Trials by condition, conditions in order of their first trial. */
export function groupTrials(trials: readonly Trial[]): ReadonlyMap<string, readonly Trial[]> {
  const groups = new Map<string, Trial[]>();
  for (const trial of trials) {
    const group = groups.get(trial.condition);
    if (group) group.push(trial);
    else groups.set(trial.condition, [trial]);
  }
  return groups;
}
