import { present } from '@agentci/lib/data';
import { formatP, formatUsd } from '@agentci/lib/numbers';
import type { CellComparison, CellSummary, RunResult } from '@agentci/results';
import { cellText, pairsText } from '@agentci/results';

/** A table as texts, for each format to render. */
export interface TextTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** All cells with their difference from the reference. Undefined without a matrix. */
export function cellTable({
  cells,
  cell_comparisons = [],
}: Pick<RunResult, 'cells' | 'cell_comparisons'>): TextTable | undefined {
  if (cells === undefined || cells.length === 0) return undefined;
  const [first] = cell_comparisons;
  const head = present([
    'cell',
    'pass rate',
    '95 %',
    'cost',
    first === undefined ? undefined : `against ${cellText(first.reference)}`,
  ]);
  const against = new Map(
    cell_comparisons.map((comparison) => [cellText(comparison.cell), comparison]),
  );
  return {
    head,
    rows: cells.map((summary) => {
      const name = cellText(summary.cell);
      const comparison = against.get(name);
      const last =
        first === undefined
          ? []
          : [comparison === undefined ? 'the reference' : differenceText(comparison)];
      return [name, rateText(summary), intervalText(summary), costText(summary), ...last];
    }),
  };
}

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
const points = (share: number): string => `${share > 0 ? '+' : ''}${(100 * share).toFixed(0)}`;

/** Errors and skips are not part of the rate, so they follow it. */
function rateText(summary: CellSummary): string {
  const {
    pass_rate,
    passed,
    warned = 0,
    failed,
    errors,
    skipped,
    passed_runs,
    decided_runs,
  } = summary;
  // The rate counts runs, and so do its numbers.
  const hasRepeats = decided_runs !== undefined && decided_runs > passed + failed;
  const of = hasRepeats
    ? `${passed_runs} of ${decided_runs} runs`
    : `${passed} of ${passed + failed}`;
  const rate = pass_rate === null ? 'not decided' : `${percent(pass_rate)} (${of})`;
  const rest = [
    warned > 0 ? `${warned} of them with a warning` : '',
    errors > 0 ? `${errors} not judged` : '',
    skipped > 0 ? `${skipped} skipped` : '',
  ].filter(Boolean);
  return [rate, ...rest].join(', ');
}

const intervalText = ({ interval }: CellSummary): string =>
  interval === null ? '' : `${percent(interval.low)} to ${percent(interval.high)}`;

function costText({ cost_usd, unpriced_runs }: CellSummary): string {
  if (cost_usd === null) return 'not known';
  return unpriced_runs > 0
    ? `${formatUsd(cost_usd)} and ${unpriced_runs} unknown`
    : formatUsd(cost_usd);
}

/** `worse by 30 points (-45 to -12), p = 0.016`, or why it is open. */
function differenceText({
  difference,
  interval,
  p,
  verdict,
  pairs,
  queries,
  more_queries,
}: CellComparison): string {
  if (difference === null || interval === null || p === null) return 'no query decided in both';
  const facts = `${points(difference)} points (${points(interval.low)} to ${points(interval.high)}), ${pairsText({ pairs, queries })}, ${formatP(p)}`;
  if (verdict !== 'inconclusive') return `${verdict}: ${facts}`;
  return `inconclusive: ${facts}${more_queries === null ? '' : `, needs about ${more_queries} more ${more_queries === 1 ? 'query' : 'queries'}`}`;
}
