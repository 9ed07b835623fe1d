import type { WrittenRubric } from '../judge/rubric.ts';
import { asksIn } from '../layers/asks.ts';
import { RUBRIC_KEYS, type RubricKey } from '../layers/judged.ts';
import type { CheckResult } from '../results/run-result.ts';
import type { Query } from './suite.ts';

/** One rubric of a query, and where it was written. */
export interface RubricItem {
  readonly key: RubricKey;
  readonly written: WrittenRubric;
  readonly place: Pick<CheckResult, 'id' | 'location'>;
}

/** Whether a rubric is written beside the other checks, not in a combinator. */
export const hasTopRubrics = ({ correctness }: Pick<Query, 'correctness'>): boolean =>
  RUBRIC_KEYS.some((key) => correctness?.[key] !== undefined && correctness[key] !== null);

/** Whether a judge may have to be asked about the query. */
export const hasRubrics = (query: Query): boolean =>
  hasTopRubrics(query) ||
  nestedRubrics(query).length > 0 ||
  (query.turns?.some((turn) => hasTopRubrics(turn) || nestedRubrics(turn).length > 0) ?? false);

const nestedRubrics = ({ correctness }: Pick<Query, 'correctness'>) =>
  asksIn('correctness', correctness).filter(({ kind }) => kind === 'rubric');

/** How many verdicts a query asks of a judge, those on its turns included. */
export const countRubrics = (query: Query): number =>
  [query, ...(query.turns ?? [])].reduce(
    (sum, each) => sum + RUBRIC_KEYS.flatMap((key) => itemsOf(each, key)).length,
    0,
  );

/** The same with those in combinators, which are not verdicts of their own. */
export const countAllRubrics = (query: Query): number =>
  [query, ...(query.turns ?? [])].reduce(
    (sum, each) => sum + nestedRubrics(each).length,
    countRubrics(query),
  );

/** The rubrics of a query under one key. */
export function itemsOf(
  { correctness, locations }: Pick<Query, 'correctness' | 'locations'>,
  key: RubricKey,
): RubricItem[] {
  const written = correctness?.[key] as WrittenRubric | readonly WrittenRubric[] | null | undefined;
  if (written === undefined || written === null) return [];
  const id = `correctness.${key}`;
  const isList = Array.isArray(written);
  return (isList ? (written as readonly WrittenRubric[]) : [written as WrittenRubric]).map(
    (rubric, i) => {
      const location = (isList ? locations?.[`${id}[${i}]`] : undefined) ?? locations?.[id];
      return { key, written: rubric, place: { id, location } };
    },
  );
}
