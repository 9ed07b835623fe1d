import { compileGlob, isGlob } from '@agentci/lib/regex';
import { type CaseName, caseKey } from '@agentci/results';
import type { Query, Suite } from './suite.ts';

export interface Selection {
  /** Queries with any of these tags. */
  readonly tags?: readonly string[] | undefined;
  /** Part of the id or the text, or a glob over either. Case-insensitive. */
  readonly filter?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  /** Positions in the spec, from 0. */
  readonly indices?: readonly number[] | undefined;
  /** Allowed values of the matrix, by variable. */
  readonly cells?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Cases by id and cell. */
  readonly only?: readonly CaseName[] | undefined;
}

/** The queries that satisfy every condition, in spec order. An empty list is not a condition. */
export function selectQueries(
  suite: Pick<Suite, 'queries'>,
  selection: Selection,
): readonly Query[] {
  const tags = asSet(selection.tags);
  const ids = asSet(selection.ids);
  const indices = asSet(selection.indices);
  const only = selection.only === undefined ? undefined : new Set(selection.only.map(caseKey));
  const cells = Object.entries(selection.cells ?? {});
  const positions = indices === undefined ? undefined : positionsOf(suite.queries);
  const matches =
    selection.filter === undefined || selection.filter === ''
      ? undefined
      : textMatcher(selection.filter);
  return suite.queries.filter(
    (query, index) =>
      (tags === undefined || query.tags.some((tag) => tags.has(tag))) &&
      (ids === undefined || ids.has(query.id)) &&
      (indices === undefined || indices.has(positions![index]!)) &&
      (only === undefined || only.has(caseKey(query))) &&
      cells.every(
        ([name, values]) => query.cell !== undefined && values.includes(query.cell[name]!),
      ) &&
      (matches === undefined || matches(query.id) || matches(query.query)),
  );
}

/** The cells of a query share its position. */
function positionsOf(queries: readonly Query[]): readonly number[] {
  let position = -1;
  let before: string | undefined;
  return queries.map(({ id }) => {
    if (id !== before) position++;
    before = id;
    return position;
  });
}

const asSet = <T>(values: readonly T[] | undefined): ReadonlySet<T> | undefined =>
  values === undefined || values.length === 0 ? undefined : new Set(values);

/** A glob without a match may be plain text, such as "why?". */
function textMatcher(filter: string): (text: string) => boolean {
  const folded = filter.toLowerCase();
  const glob = isGlob(folded) ? compileGlob(folded) : undefined;
  return (text) => {
    const candidate = text.toLowerCase();
    return candidate.includes(folded) || glob?.(candidate) === true;
  };
}
