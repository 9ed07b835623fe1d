import { comparedQuery } from '@agentci/reporters/shared';
import type { PageBefore, PageBeforeQuery, RunComparison, RunResult } from '@agentci/results';
import { caseText, cellText } from '@agentci/results';
import {
  type CHANGE_METRICS,
  compareRuns,
  OF_CELLS,
  type QueryChange,
  type QueryValues,
  queryChanges,
} from '@agentci/run/baseline';

/** One side of a comparison: a run, a baseline version, or a cell of the matrix. */
export interface Side {
  readonly name: string;
  /** Each of its queries has a page. */
  readonly hasPages: boolean;
  /** A version has exactly one recording per query. */
  readonly isVersion: boolean;
  readonly runId: string;
  readonly queries: ReadonlyMap<string, PageBeforeQuery>;
  /** Name of a query's case in its run. */
  readonly caseOf: (id: string) => string;
  /** The page only has a summary, so the answer must be loaded. */
  readonly isSlim: (id: string) => boolean;
}

export interface Sides {
  readonly before: Side;
  readonly after: Side;
  readonly comparison: RunComparison;
  readonly changes: readonly QueryChange[];
  /** Query texts by id. */
  readonly asked: ReadonlyMap<string, string>;
}

/** The open run, or the version that replaces it, and the other side. */
export function runSides(run: RunResult | undefined, before: PageBefore): Sides {
  const old = sideOf(before.run_id, before.name, before.queries);
  const now =
    before.after === undefined
      ? openSide(run!)
      : sideOf(before.after.id, before.after.name, before.after.queries);
  const asked = [...old.queries, ...now.queries].flatMap(([id, { query }]): [string, string][] =>
    query === undefined ? [] : [[id, query]],
  );
  const own =
    before.after === undefined
      ? run!.results.map((result) => [caseText(result), result.query] as const)
      : [];
  return {
    before: old,
    after: now,
    comparison: before.comparison,
    changes: queryChanges(valuesOf(old.queries), valuesOf(now.queries)),
    asked: new Map([...asked, ...own]),
  };
}

const sideOf = (id: string, name: string | undefined, queries: PageBefore['queries']): Side => ({
  name: name ?? id,
  runId: id,
  hasPages: false,
  isVersion: name !== undefined,
  queries: new Map(queries),
  caseOf: (query) => query,
  isSlim: () => false,
});

function openSide(run: RunResult): Side {
  const slim = new Set(run.results.filter((result) => 'slim' in result).map(caseText));
  return {
    name: run.run_id,
    runId: run.run_id,
    hasPages: true,
    isVersion: false,
    queries: new Map(run.results.map((result) => [caseText(result), comparedQuery(result)])),
    caseOf: (id) => id,
    isSlim: (id) => slim.has(id),
  };
}

/** Two cells of one run, paired by query. Undefined if the run lacks such cells. */
export function cellSides(run: RunResult, from: string, to: string): Sides | undefined {
  const [a, b] = [resultsOf(run, from), resultsOf(run, to)];
  if (a.length === 0 || b.length === 0) return undefined;
  const side = (name: string, results: RunResult['results']): Side => ({
    name,
    runId: run.run_id,
    hasPages: true,
    isVersion: false,
    queries: new Map(results.map((result) => [result.id, comparedQuery(result)])),
    caseOf: (id) => `${id} (${name})`,
    isSlim: (id) => results.some((result) => result.id === id && 'slim' in result),
  });
  const sides = { before: side(from, a), after: side(to, b) };
  const part = (name: string, results: RunResult['results']): RunResult => ({
    ...run,
    run_id: name,
    results,
  });
  return {
    ...sides,
    comparison: compareRuns({ before: part(from, a), after: part(to, b), ...OF_CELLS }),
    changes: queryChanges(valuesOf(sides.before.queries), valuesOf(sides.after.queries)),
    asked: new Map(b.map(({ id, query }) => [id, query])),
  };
}

const resultsOf = (run: RunResult, cell: string): RunResult['results'] =>
  run.results.flatMap((result) => {
    if (result.cell === undefined || cellText(result.cell) !== cell) return [];
    const { cell: _, ...rest } = result;
    return [rest];
  });

const valuesOf = (queries: ReadonlyMap<string, PageBeforeQuery>): Map<string, QueryValues> =>
  new Map(
    [...queries].map(([id, query]) => {
      const runs = query.runs ?? [query];
      const known = (metric: (typeof CHANGE_METRICS)[number]) =>
        runs.flatMap((run) =>
          typeof run[metric] === 'number' && Number.isFinite(run[metric]) ? [run[metric]] : [],
        );
      return [
        id,
        {
          cost_usd: known('cost_usd'),
          latency_ms: known('latency_ms'),
          total_tokens: known('total_tokens'),
        } satisfies QueryValues,
      ];
    }),
  );
