import type { MutationResult, MutationScore, Survivor } from '../../results/mutation-result.ts';
import type { Layer } from '../../results/run-result.ts';

/** `83 % (71 % to 91 %), 40 of 48`. */
export function scoreText({ noticed, mutants, rate, ci95 }: MutationScore): string {
  if (rate === null) return 'nothing to break';
  const interval = ci95 === null ? '' : ` (95 % interval ${percent(ci95.low)} to ${percent(ci95.high)})`;
  return `${percent(rate)}${interval}, ${noticed} of ${mutants} noticed`;
}

export const percent = (share: number): string => `${Math.floor(share * 1000) / 10} %`;

export const LAYER_NAMES: Readonly<Record<Layer, string>> = { correctness: 'Correctness', path: 'Path', cost: 'Cost' };

/** Survivors that the same line would catch are told together. */
export interface SurvivorGroup {
  readonly query: string;
  readonly location: Survivor['location'];
  readonly advice: Survivor['advice'];
  readonly what: readonly string[];
}

export function groupSurvivors(survivors: readonly Survivor[]): SurvivorGroup[] {
  const groups = new Map<
    string,
    { query: string; location: Survivor['location']; advice: Survivor['advice']; what: string[] }
  >();
  for (const { query, location, advice, what } of survivors) {
    const key = `${query}\n${advice.layer}\n${advice.yaml}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { query, location, advice, what: [what] });
    else if (!group.what.includes(what)) group.what.push(what);
  }
  return [...groups.values()];
}

/** What a reader must know before the numbers. */
export function remarks({ left_out, equal, not_tried, notices, for_the_judge }: MutationResult): string[] {
  const counts = new Map<string, string[]>();
  for (const { query, why } of left_out) counts.set(why, [...(counts.get(why) ?? []), query]);
  return [
    ...[...counts].map(([why, queries]) => `not changed: ${[...new Set(queries)].slice(0, 5).join(', ')}: ${why}`),
    ...(equal > 0 ? [`${equal} of the changes made no difference to the recording, and are not counted`] : []),
    ...(not_tried > 0 ? [`the budget left ${not_tried} changes untried; --budget sets it`] : []),
    ...(for_the_judge.length > 0
      ? [`${for_the_judge.length} wrong answers are left to the rubrics, which were not asked; --judge live asks them`]
      : []),
    ...notices,
  ];
}
