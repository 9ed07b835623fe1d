import { formatP } from '@agentci/lib/numbers';
import type {
  CellComparison,
  CellSummary,
  CheckResult,
  CheckStatus,
  QueryResult,
  RunResult,
} from '@agentci/results';
import {
  type Cell,
  cellKey,
  cellText,
  decidedRuns,
  neededQueries,
  pairsText,
  sameCell,
  usedBy,
  verdictsOfRuns,
} from '@agentci/results';
import {
  type ClusteredOutcome,
  clusteredRateInterval,
  DEFAULT_LEVEL,
  type Interval,
  wilsonAt,
  wilsonInterval,
} from '@agentci/stats';
import { compareMetrics, OF_CELLS } from '../baseline/compare-metrics.ts';

type Cells = Required<Pick<RunResult, 'cells' | 'cell_comparisons'>>;

/** Compares each cell of a run with the reference: `baseline_cell`, or the first cell. */
export function compareCells(
  results: readonly QueryResult[],
  cells: readonly Cell[],
  baselineCell: Cell | undefined,
): Cells {
  const byCell = new Map<string, QueryResult[]>();
  for (const result of results) {
    if (result.cell === undefined) continue;
    const key = cellKey(result.cell);
    const of = byCell.get(key);
    if (of === undefined) byCell.set(key, [result]);
    else of.push(result);
  }
  const run = cells.filter((cell) => byCell.has(cellKey(cell)));
  const reference =
    run.find((cell) => sameCell(cell, baselineCell)) ??
    (baselineCell === undefined ? run[0] : undefined);
  const others = reference === undefined ? [] : run.filter((cell) => cell !== reference);
  const resultsOf = (cell: Cell): readonly QueryResult[] => byCell.get(cellKey(cell)) ?? [];
  return {
    cells: run.map((cell) => summaryOf(cell, resultsOf(cell))),
    cell_comparisons: others.map((cell) =>
      compare({ cell, reference: reference!, of: resultsOf(cell), before: resultsOf(reference!) }),
    ),
  };
}

function summaryOf(cell: Cell, results: readonly QueryResult[]): CellSummary {
  const count = (...wanted: CheckStatus[]): number =>
    results.filter(({ status }) => wanted.includes(status)).length;
  const outcomes = results.flatMap((result) =>
    decidedRuns(result).map((passed, i) => ({
      cluster: result.id,
      unit: String(i),
      isSuccess: passed === 1,
    })),
  );
  const passed = outcomes.filter(({ isSuccess }) => isSuccess).length;
  const costs = results.flatMap(costsOf);
  const known = costs.filter((cost) => cost !== null);
  return {
    cell,
    total: results.length,
    passed: count('pass', 'warn'),
    warned: count('warn'),
    failed: count('fail'),
    errors: count('error'),
    skipped: count('skip'),
    passed_runs: passed,
    decided_runs: outcomes.length,
    pass_rate: outcomes.length === 0 ? null : passed / outcomes.length,
    interval: rateInterval(outcomes, passed),
    cost_usd: known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0),
    unpriced_runs: costs.length - known.length,
  };
}

/** Runs of one query are correlated, so they count for less than the same number of queries. */
function rateInterval(outcomes: readonly ClusteredOutcome[], passed: number): Interval | null {
  const queries = new Set(outcomes.map(({ cluster }) => cluster)).size;
  if (queries === outcomes.length) return wilsonInterval(passed, outcomes.length);
  // If all runs of every query agree, the number of queries is the sample size.
  const isUniform = passed === 0 || passed === outcomes.length;
  return isUniform
    ? wilsonAt(passed === 0 ? 0 : 1, queries, DEFAULT_LEVEL)
    : clusteredRateInterval(outcomes);
}

function costsOf(result: QueryResult): (number | null)[] {
  const { runs, skip, not_run } = result;
  if (skip !== undefined || not_run !== undefined) return [];
  if (runs !== undefined) return runs.map((run) => run.cost_usd ?? null);
  return [usedBy(result).cost_usd ?? null];
}

function compare(input: {
  readonly cell: Cell;
  readonly reference: Cell;
  readonly of: readonly QueryResult[];
  readonly before: readonly QueryResult[];
}): CellComparison {
  const { cell, reference } = input;
  const seen = (results: readonly QueryResult[]) =>
    new Map(
      results.map((result) => [
        result.id,
        { verdicts: decidedRuns(result), runs: verdictsOfRuns(result), metrics: new Map() },
      ]),
    );
  const [before, after] = [seen(input.before), seen(input.of)];
  const [rate] = compareMetrics(before, after, OF_CELLS);
  if (rate === undefined)
    return {
      cell,
      reference,
      pairs: 0,
      queries: 0,
      lost: 0,
      won: 0,
      difference: null,
      interval: null,
      p: null,
      verdict: 'inconclusive',
      more_queries: null,
    };
  const changes = [...after].map(([id, { runs }]) =>
    runs.flatMap((verdict, run) => {
      const was = before.get(id)?.runs[run];
      return verdict === undefined || was === undefined ? [] : [verdict - was];
    }),
  );
  const count = (change: number): number => changes.flat().filter((each) => each === change).length;
  const { low, high } = rate.damage;
  const needed = neededQueries(rate);
  return {
    cell,
    reference,
    pairs: rate.pairs,
    queries: rate.queries,
    lost: count(-1),
    won: count(1),
    difference: 0 - rate.damage.mean,
    interval: low === null || high === null ? null : { low: 0 - high, high: 0 - low },
    p: rate.p,
    // Without a margin, equivalence cannot be shown.
    verdict: rate.verdict === 'better' || rate.verdict === 'worse' ? rate.verdict : 'inconclusive',
    more_queries: needed === null ? null : Math.max(1, needed - rate.queries),
  };
}

/**
 * With `baseline_cell`, a cell that passes significantly less often fails the run, and an
 * inconclusive comparison is not a pass.
 */
export function cellChecks({ cells, cell_comparisons }: Cells, reference: Cell): CheckResult[] {
  // A selection without the reference leaves nothing to compare with. That must not look like a
  // passed gate.
  if (cells.length > 0 && !cells.some(({ cell }) => sameCell(cell, reference)))
    return [
      {
        id: 'matrix.baseline_cell',
        status: 'skip',
        skip_reason: 'not_measured',
        message: `the reference ${cellText(reference)} was not run, so no cell was compared with it`,
        evidence: [],
      },
    ];
  return cell_comparisons.map((comparison) => {
    const { cell, difference, verdict } = comparison;
    const check = {
      id: 'matrix.baseline_cell',
      message: `${cellText(cell)} against ${cellText(comparison.reference)}: ${comparisonText(comparison)}`,
      value: difference !== null ? difference : undefined,
      limit: 0,
      evidence: [],
    };
    if (verdict === 'inconclusive')
      return { ...check, status: 'skip', skip_reason: 'not_measured' };
    return { ...check, status: verdict === 'worse' ? 'fail' : 'pass' };
  });
}

/** A comparison in one line, with its numbers. */
function comparisonText({
  pairs,
  queries,
  lost,
  won,
  difference,
  interval,
  p,
  verdict,
  more_queries,
}: CellComparison): string {
  if (difference === null || interval === null || p === null) return 'no query was decided in both';
  const points = (value: number): string => `${value > 0 ? '+' : ''}${(100 * value).toFixed(1)}`;
  const facts = `${points(difference)} points over ${pairsText({ pairs, queries })} (95 % interval ${points(interval.low)} to ${points(interval.high)}; ${lost} lost, ${won} won, ${formatP(p)})`;
  if (verdict !== 'inconclusive') return `${verdict}, ${facts}`;
  if (more_queries === null) return `inconclusive, ${facts}`;
  return `inconclusive, ${facts}; needs about ${more_queries} more ${more_queries === 1 ? 'query' : 'queries'} to tell a difference of this size`;
}
