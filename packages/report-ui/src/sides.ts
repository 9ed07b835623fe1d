import { OF_CELLS } from '../../agentci/src/baseline/compare-metrics.ts';
import { compareRuns } from '../../agentci/src/baseline/compare-runs.ts';
import {
  type CHANGE_METRICS,
  type QueryChange,
  type QueryValues,
  queryChanges,
} from '../../agentci/src/baseline/query-changes.ts';
import { comparedQuery } from '../../agentci/src/reporters/html/page-before.ts';
import { caseText, cellText } from '../../agentci/src/results/cell.ts';
import type { RunComparison } from '../../agentci/src/results/diff.ts';
import type { PageBefore, PageBeforeQuery } from '../../agentci/src/results/page-data.ts';
import type { RunResult } from '../../agentci/src/results/run-result.ts';

/** One side of a comparison: a run, or a cell of the matrix. */
export interface Side {
  readonly name: string;
  readonly runId: string;
  readonly queries: ReadonlyMap<string, PageBeforeQuery>;
  /** The name of a query's case in its run. */
  readonly caseOf: (id: string) => string;
  /** The page has only what lists show of it: its answer must be asked for. */
  readonly isSlim: (id: string) => boolean;
}

export interface Sides {
  readonly before: Side;
  readonly after: Side;
  readonly comparison: RunComparison;
  readonly changes: readonly QueryChange[];
  /** What was asked, by id. */
  readonly asked: ReadonlyMap<string, string>;
}

/** The open run and the one before it. */
export function runSides(run: RunResult, before: PageBefore): Sides {
  const old = new Map(before.queries);
  const now = new Map(run.results.map((result) => [caseText(result), comparedQuery(result)]));
  const slim = new Set(run.results.filter((result) => 'slim' in result).map(caseText));
  return {
    before: { name: before.run_id, runId: before.run_id, queries: old, caseOf: (id) => id, isSlim: () => false },
    after: { name: run.run_id, runId: run.run_id, queries: now, caseOf: (id) => id, isSlim: (id) => slim.has(id) },
    comparison: before.comparison,
    changes: queryChanges(valuesOf(old), valuesOf(now)),
    asked: new Map(run.results.map((result) => [caseText(result), result.query])),
  };
}

/** Two cells of one run, paired by query. Undefined where the run has no such cells. */
export function cellSides(run: RunResult, from: string, to: string): Sides | undefined {
  const [a, b] = [resultsOf(run, from), resultsOf(run, to)];
  if (a.length === 0 || b.length === 0) return undefined;
  const side = (name: string, results: RunResult['results']): Side => ({
    name,
    runId: run.run_id,
    queries: new Map(results.map((result) => [result.id, comparedQuery(result)])),
    caseOf: (id) => `${id} (${name})`,
    isSlim: (id) => results.some((result) => result.id === id && 'slim' in result),
  });
  const sides = { before: side(from, a), after: side(to, b) };
  const part = (name: string, results: RunResult['results']): RunResult => ({ ...run, run_id: name, results });
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
        runs.flatMap((run) => (typeof run[metric] === 'number' && Number.isFinite(run[metric]) ? [run[metric]] : []));
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
