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

/** Survivors of one query that the same check would catch are told together, with the line for the first of them. */
export interface SurvivorGroup {
  readonly query: string;
  readonly location: Survivor['location'];
  readonly advice: Survivor['advice'];
  /** The query has that check already. */
  readonly meant: boolean;
  readonly what: readonly string[];
  /** Further lines of the same check, for the others. */
  readonly further: readonly string[];
}

export function groupSurvivors(survivors: readonly Survivor[]): SurvivorGroup[] {
  const groups = new Map<string, Survivor[]>();
  for (const survivor of survivors) {
    const key = `${survivor.query}\n${survivor.advice.layer}\n${survivor.advice.check}\n${survivor.meant}`;
    groups.set(key, [...(groups.get(key) ?? []), survivor]);
  }
  return [...groups.values()].map((members) => {
    const { query, location, advice, meant } = members[0]!;
    const lines = new Set(members.map((member) => member.advice.yaml));
    lines.delete(advice.yaml);
    return { query, location, advice, meant, what: [...new Set(members.map(({ what }) => what))], further: [...lines] };
  });
}

/** Why a check that is there did not notice. */
export const thoughWritten = ({ advice, meant }: Pick<SurvivorGroup, 'advice' | 'meant'>): string =>
  meant ? `though the query has ${advice.check}` : '';

/** How the checks do on what they are there for. */
export const meantText = ({ meant: { noticed, mutants } }: MutationResult): string | undefined =>
  mutants === 0
    ? undefined
    : `${noticed} of ${mutants} changes that a check of the query is meant to catch were noticed`;

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
