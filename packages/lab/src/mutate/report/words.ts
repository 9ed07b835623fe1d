import { present } from '@agentci/lib/data';
import { andMore, plural } from '@agentci/lib/text';
import type {
  Layer,
  MutationResult,
  MutationScore,
  Survivor,
  SurvivorAdvice,
} from '@agentci/results';
import { joinWritten } from '../join-written.ts';
import { yamlValue } from '../yaml-words.ts';

const MAX_NAMED = 5;

/** `83 % (71 % to 91 %), 40 of 48`. */
export function scoreText({ noticed, mutants, rate, ci95 }: MutationScore): string {
  if (rate === null) return 'nothing to break';
  const interval =
    ci95 === null ? '' : ` (95 % interval ${percent(ci95.low)} to ${percent(ci95.high)})`;
  return `${percent(rate)}${interval}, ${noticed} of ${mutants} noticed`;
}

export const percent = (share: number): string => `${Math.floor(share * 1000) / 10} %`;

export const LAYER_NAMES: Readonly<Record<Layer, string>> = {
  correctness: 'Correctness',
  path: 'Path',
  cost: 'Cost',
};

/** Survivors of one query that the same check would catch, with one line for all of them. */
export interface SurvivorGroup {
  /** Rows of one query share a location in the spec. */
  readonly queries: readonly string[];
  readonly location: Survivor['location'];
  readonly advice: SurvivorAdvice | undefined;
  readonly layer: Layer;
  /** The existing check that should have noticed. */
  readonly meantBy: string | undefined;
  readonly what: readonly string[];
}

export function groupSurvivors(survivors: readonly Survivor[]): SurvivorGroup[] {
  const places = new Map<string, Survivor[]>();
  for (const survivor of survivors) push(places, placeOf(survivor), survivor);
  return [...places.values()].flatMap((atPlace) => {
    const byCheck = new Map<string, Survivor[]>();
    for (const survivor of atPlace) push(byCheck, keyOf(survivor), survivor);
    return [...byCheck.values()].flatMap(splitByAdvice).flatMap((members) => {
      // One line for both kinds of survivors, because two lines would replace each other.
      const advice = joinAdvice(members);
      const byMeant = new Map<string, Survivor[]>();
      for (const survivor of members) push(byMeant, survivor.meant_by ?? '', survivor);
      return [...byMeant.values()].map((told) => groupOf(told, advice));
    });
  });
}

const groupOf = (
  members: readonly Survivor[],
  advice: SurvivorAdvice | undefined,
): SurvivorGroup => ({
  queries: [...new Set(members.map(({ query }) => query))],
  location: members[0]!.location,
  layer: members[0]!.layer,
  advice,
  meantBy: members[0]!.meant_by,
  what: [...new Set(members.map(({ what }) => what))],
});

/** Groups rows of one query. */
const placeOf = ({ location, query }: Survivor): string =>
  location === undefined ? query : `${location.file}:${location.line}:${location.column}`;

/**
 * Lines with one key replace each other, so they are merged. A line for a single row stays
 * separate.
 */
const keyOf = ({ advice, layer, query }: Survivor): string =>
  advice === undefined
    ? `${layer} ${query}`
    : `${advice.layer}.${advice.check} ${advice.turn ?? ''} ${advice.per_row === true ? query : ''}`;

function push(map: Map<string, Survivor[]>, key: string, survivor: Survivor): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [survivor]);
  else list.push(survivor);
}

/** Checks that cannot be merged get one group each. */
function splitByAdvice(members: Survivor[]): Survivor[][] {
  const isJoinable = ({ advice }: Survivor): boolean =>
    Array.isArray(advice?.value) || isNumberOrNone(advice?.value);
  if (members.every(isJoinable)) return [members];
  const byLine = new Map<string, Survivor[]>();
  for (const member of members) {
    const line = member.advice?.yaml ?? '';
    byLine.set(line, [...(byLine.get(line) ?? []), member]);
  }
  return [...byLine.values()];
}

const isNumberOrNone = (value: unknown): boolean =>
  value === undefined || typeof value === 'number';

/** Merges the advice of all members into one line. */
function joinAdvice(members: readonly Survivor[]): SurvivorAdvice | undefined {
  let joined = members[0]!.advice;
  for (const { advice } of members) {
    const value =
      joined && advice ? joinWritten(joined.check, joined.value, advice.value) : undefined;
    if (joined && value !== undefined)
      joined = { ...joined, value, yaml: `${joined.check}: ${yamlValue(value)}` };
  }
  return joined;
}

/** The line to add, or the reason why there is none, with remarks. */
export function adviceText({ advice, layer }: SurvivorGroup): {
  readonly line?: string;
  readonly note?: string;
} {
  if (advice === undefined) {
    const rubric = layer === 'correctness' ? '; a rubric could (llm_judge)' : '';
    return { note: `no check was found that holds on the good recording and catches it${rubric}` };
  }
  const { keeps, per_row } = advice;
  let note: string | undefined;
  if (per_row) note = 'for this row alone: give the rows a column for it';
  else if (keeps === undefined) note = undefined;
  else note = `with what ${keeps.file}:${keeps.line}:${keeps.column} has already`;
  const block = `${advice.layer}: {${advice.yaml}}`;
  const line = advice.turn === undefined ? block : `turns: [{turn: ${advice.turn}, ${block}}]`;
  return note === undefined ? { line } : { line, note };
}

/** Explains why an existing check did not notice. */
export const thoughWritten = ({ meantBy }: Pick<SurvivorGroup, 'meantBy'>): string =>
  meantBy === undefined ? '' : `though the query has ${meantBy}`;

/** Score of the checks on the changes they cover. */
export const meantText = ({ meant: { noticed, mutants } }: MutationResult): string | undefined =>
  mutants === 0
    ? undefined
    : `${noticed} of ${mutants} changes that a check of the query is meant to catch were noticed`;

/** Caveats before the numbers. */
export function remarks(result: MutationResult): string[] {
  const { left_out, equal, not_tried, notices, for_the_judge, uncovered, already_violated } =
    result;
  const counts = new Map<string, string[]>();
  for (const { query, why } of left_out) counts.set(why, [...(counts.get(why) ?? []), query]);
  return present([
    ...[...counts].map(
      ([why, queries]) => `not changed: ${andMore([...new Set(queries)], MAX_NAMED)}: ${why}`,
    ),
    uncovered.length > 0
      ? `${plural(uncovered.length, 'query has', 'queries have')} no good recording and ${uncovered.length === 1 ? 'is' : 'are'} not in the score: ${andMore(uncovered, MAX_NAMED)}`
      : undefined,
    ...already_violated
      .slice(0, MAX_NAMED)
      .map(
        ({ query, check, message }) =>
          `${query}: the recording violates ${check} as it is (${message}), so that check notices nothing more`,
      ),
    already_violated.length > MAX_NAMED
      ? `${already_violated.length - MAX_NAMED} more checks are violated by the recordings as they are`
      : undefined,
    equal > 0
      ? `${equal} of the changes made no difference to the recording, and are not counted`
      : undefined,
    not_tried > 0 ? `the budget left ${not_tried} changes untried; --budget sets it` : undefined,
    for_the_judge.length > 0
      ? `${for_the_judge.length} wrong answers are left to the rubrics, which were not asked; --judge live asks them`
      : undefined,
    ...notices,
  ]);
}
