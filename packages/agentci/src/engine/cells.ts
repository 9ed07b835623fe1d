import { type Cell, cellKey, cellText, sameCell } from '../results/cell.ts';
import type {
  CellComparison,
  CellSummary,
  CheckResult,
  CheckStatus,
  QueryResult,
  RunResult,
} from '../results/run-result.ts';
import { usedBy } from '../results/stored-result.ts';
import { mcnemar } from '../stats/mcnemar.ts';
import { pairedRateInterval } from '../stats/paired-rate-interval.ts';
import { requiredSampleSize } from '../stats/sample-size.ts';
import { wilsonInterval } from '../stats/wilson-interval.ts';

const LEVEL = 0.05;

type Cells = Required<Pick<RunResult, 'cells' | 'cell_comparisons'>>;

/** The cells of a run beside each other, and each against the reference: `baseline_cell`, or the first that was run. */
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
    run.find((cell) => sameCell(cell, baselineCell)) ?? (baselineCell === undefined ? run[0] : undefined);
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
  const count = (...wanted: CheckStatus[]): number => results.filter(({ status }) => wanted.includes(status)).length;
  const verdicts = results.flatMap(verdictsOf).filter((verdict) => verdict !== undefined);
  const passed = verdicts.filter(Boolean).length;
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
    pass_rate: verdicts.length === 0 ? null : passed / verdicts.length,
    interval: wilsonInterval(passed, verdicts.length),
    cost_usd: known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0),
    unpriced_runs: costs.length - known.length,
  };
}

/** Whether each run passed; undefined for one that was not decided. An expected failure that failed is a failure here. */
function verdictsOf({ runs, status, xfail }: QueryResult): (boolean | undefined)[] {
  // A query that could not be judged says nothing of its cell, whatever became of some of its runs.
  if (status === 'error') return [undefined];
  const statuses = runs?.map((run) => run.status) ?? [xfail?.status ?? status];
  return statuses.map((each) => (each === 'pass' || each === 'warn' ? true : each === 'fail' ? false : undefined));
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
  const before = new Map(input.before.map((result) => [result.id, verdictsOf(result)]));
  const table = { bothPass: 0, passToFail: 0, failToPass: 0, bothFail: 0 };
  let queries = 0;
  for (const result of input.of) {
    const was = before.get(result.id) ?? [];
    let isPaired = false;
    for (const [run, passes] of verdictsOf(result).entries()) {
      const passed = was[run];
      if (passes === undefined || passed === undefined) continue;
      isPaired = true;
      table[passed ? (passes ? 'bothPass' : 'passToFail') : passes ? 'failToPass' : 'bothFail']++;
    }
    if (isPaired) queries++;
  }
  const { passToFail: lost, failToPass: won } = table;
  const pairs = table.bothPass + table.bothFail + lost + won;
  const names = { cell, reference, pairs, lost, won };
  if (pairs === 0)
    return { ...names, difference: null, interval: null, p: null, verdict: 'inconclusive', more_queries: null };
  const p = mcnemar({ b: lost, c: won }).midP;
  // The method gives the loss, before − after; a difference is read the other way round.
  const loss = pairedRateInterval(table);
  const verdict = p >= LEVEL ? 'inconclusive' : lost > won ? 'worse' : 'better';
  const needed = requiredSampleSize({ passToFail: lost / pairs, failToPass: won / pairs });
  return {
    ...names,
    difference: (won - lost) / pairs,
    interval: loss === null ? null : { low: -loss.high, high: -loss.low },
    p,
    verdict,
    more_queries:
      verdict !== 'inconclusive' || needed === null
        ? null
        : Math.max(1, Math.ceil((needed - pairs) / (pairs / Math.max(queries, 1)))),
  };
}

/** With `baseline_cell`, a cell that passes significantly less often fails the run; an open question is not a pass. */
export function cellChecks({ cells, cell_comparisons }: Cells, reference: Cell): CheckResult[] {
  // A selection without the reference leaves nothing to compare with, which must not look like a gate that held.
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
      ...(difference === null ? {} : { value: difference }),
      limit: 0,
      evidence: [],
    };
    if (verdict === 'inconclusive') return { ...check, status: 'skip', skip_reason: 'not_measured' };
    return { ...check, status: verdict === 'worse' ? 'fail' : 'pass' };
  });
}

/** A comparison in one line, with its numbers. */
function comparisonText({ pairs, lost, won, difference, interval, p, verdict, more_queries }: CellComparison): string {
  if (difference === null || interval === null || p === null) return 'no query was decided in both';
  const points = (value: number): string => `${value > 0 ? '+' : ''}${(100 * value).toFixed(1)}`;
  const facts = `${points(difference)} points of ${pairs} pairs (95 % interval ${points(interval.low)} to ${points(interval.high)}; ${lost} lost, ${won} won, p = ${p.toFixed(3)})`;
  if (verdict !== 'inconclusive') return `${verdict}, ${facts}`;
  if (more_queries === null) return `inconclusive, ${facts}`;
  return `inconclusive, ${facts}; needs about ${more_queries} more ${more_queries === 1 ? 'query' : 'queries'} to tell a difference of this size`;
}
