import { UserError } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import { type Cell, caseKey, cellText } from '@agentci/results';
import { type CaseInRun, queryTrend, type Trend } from '@agentci/run';
import type { Io } from '../cli/io.ts';
import { valuesAmong } from '../test-command/cell-option.ts';
import { type ChosenSeries, queriesOfAgentRun } from './place.ts';

export interface OfSpec {
  readonly agent: string;
  readonly spec: string;
}

/** One query over several runs. With a matrix, in one cell. */
export interface CaseTrend extends Trend {
  readonly cell?: Cell;
  /** Runs that may contain it, but with an unreadable verdict. */
  readonly unread?: readonly string[];
  /** An unreadable run is newer than all readable ones. */
  readonly newest_unread?: boolean;
}

/**
 * A query over the runs of one agent and spec. Results are identified by id and cell, so each cell
 * has a separate trend.
 */
export interface QueryTrends extends OfSpec {
  readonly cases: readonly CaseTrend[];
}

/**
 * One query over the runs of each agent and spec, read one run at a time. `written` selects cells.
 */
export function queryTrends(
  query: string,
  { root, series }: ChosenSeries,
  { cell: written = [] }: { readonly cell?: readonly string[] },
  io: Io,
): QueryTrends[] {
  const ids = new Set<string>();
  let isUnread = false;
  const found = series.flatMap(({ agent, spec, runs }): QueryTrends[] => {
    const seen = runs.map((run): SeenRun => {
      const { queries, isCut } = queriesOfAgentRun(root, run, io);
      for (const { id } of queries) ids.add(id);
      if (isCut) isUnread = true;
      return { run: run.run, queries: queries.filter(({ id }) => id === query), isCut };
    });
    const cases = casesOf(seen);
    return cases.length === 0 ? [] : [{ agent, spec, cases }];
  });
  if (found.length > 0) return written.length === 0 ? found : inCells(query, found, written);
  const near = didYouMean(query, [...ids]);
  const which = isUnread
    ? 'no run in the history that can be read has'
    : 'no run in the history has';
  throw new UserError('OPTION_INVALID', `${which} a query "${query}"`, {
    hint: near === undefined ? undefined : `Did you mean "${near}"?`,
  });
}

interface SeenRun {
  readonly run: CaseInRun['run'];
  /** Entries with the requested id, one per cell. */
  readonly queries: readonly NonNullable<CaseInRun['query']>[];
  readonly isCut: boolean;
}

/** Ordered by the first run of each cell. */
function casesOf(seen: readonly SeenRun[]): CaseTrend[] {
  const cells = new Map<string, Cell | undefined>();
  for (const { queries } of seen)
    for (const query of queries) cells.set(caseKey(query), query.cell);
  return [...cells].map(([key, cell]) => {
    const own = seen.map(({ run, queries, isCut }) => ({
      run,
      query: queries.find((each) => caseKey(each) === key),
      isCut,
    }));
    const lost = own.filter(({ query, isCut }) => isCut && query === undefined);
    const lastSeen = own.findLastIndex(({ query }) => query !== undefined);
    const newest_unread = own.slice(lastSeen + 1).some(({ isCut }) => isCut);
    return {
      cell,
      ...queryTrend(own),
      unread: lost.length === 0 ? undefined : lost.map(({ run }) => run.id),
      newest_unread: lost.length === 0 ? undefined : newest_unread,
    };
  });
}

/** Filters by `--cell`. */
function inCells(
  query: string,
  found: readonly QueryTrends[],
  written: readonly string[],
): QueryTrends[] {
  const cells = found.flatMap(({ cases }) =>
    cases.flatMap(({ cell }) => (cell === undefined ? [] : [cell])),
  );
  if (cells.length === 0)
    throw new UserError(
      'OPTION_INVALID',
      `--cell: no run in the history has cells of the query "${query}"`,
      {
        hint: 'Leave --cell out.',
      },
    );
  const values = Object.entries(valuesAmong(cells, written));
  const chosen = found.flatMap(({ cases, ...of }) => {
    const own = cases.filter(({ cell }) =>
      values.every(([name, any]) => any.some((value) => value === cell?.[name])),
    );
    return own.length === 0 ? [] : [{ ...of, cases: own }];
  });
  if (chosen.length > 0) return chosen;
  throw new UserError(
    'OPTION_INVALID',
    `--cell: no run in the history has the query "${query}" in such a cell`,
    {
      hint: `Its cells are: ${[...new Set(cells.map(cellText))].slice(0, 20).join('; ')}`,
    },
  );
}
