import { defuseFormula, escapeTerminalLine } from '@agentci/lib/text';
import type { ExperimentResult, MetricSummary, Trial } from '@agentci/results';

type Cell = string | number | boolean | null | undefined;

/** Every number of an experiment, one per row, for spreadsheets and data frames. */
export function renderCsv(result: ExperimentResult): string {
  const rows: Cell[][] = [['table', 'condition', 'compared_with', 'metric', 'statistic', 'value']];
  for (const { condition, metrics, categories, actionable, n, failed } of result.conditions) {
    rows.push(
      ['condition', condition, null, null, 'n', n],
      ['condition', condition, null, null, 'failed', failed],
    );
    for (const [metric, summary] of Object.entries(metrics))
      for (const [statistic, value] of flat(summary))
        rows.push(['condition', condition, null, metric, statistic, value]);
    for (const [category, share] of Object.entries(categories ?? {}))
      rows.push(['condition', condition, null, 'dq', `share_${category}`, share]);
    if (actionable !== null)
      rows.push(['condition', condition, null, 'dq', 'share_actionable', actionable.share]);
  }
  for (const { metric, a, b, ...rest } of result.comparisons)
    for (const [statistic, value] of flat(rest))
      rows.push(['pair', a, b, metric, statistic, value]);
  for (const { metric, f, df, p, eta_squared } of result.anova)
    for (const [statistic, value] of flat({
      f,
      df_between: df?.[0],
      df_within: df?.[1],
      p,
      eta_squared,
    }))
      rows.push(['anova', null, null, metric, statistic, value]);
  if (result.sensitivity !== null) {
    for (const [order, share] of Object.entries(result.sensitivity.rank_stability))
      rows.push(['weights', null, null, 'dq', `share_${order}_order`, share]);
    for (const [condition, share] of Object.entries(result.sensitivity.wins))
      rows.push(['weights', condition, null, 'dq', 'share_best', share]);
  }
  return rows.map(line).join('');
}

/** Every trial, one per row, in the columns of a condition's `data`. */
export function renderTrialsCsv({ trials }: ExperimentResult): string {
  const columns = [
    'condition',
    'trial',
    'validity',
    'specificity',
    'correctness',
    'dq',
    't2u_s',
    'cost_usd',
    'total_tokens',
    'actions',
    'error',
  ] as const;
  const written = (trial: Trial): Cell[] =>
    columns.map((column) => {
      if (column !== 'actions') return trial[column];
      // With its actions, a trial can be scored again, also with a different ground truth.
      return trial.actions === undefined ? null : JSON.stringify(trial.actions);
    });
  return [[...columns], ...trials.map(written)].map(line).join('');
}

/** Flattens a record, with joined names for nested fields. */
function flat(record: object | MetricSummary, prefix = ''): [string, Cell][] {
  return Object.entries(record).flatMap(([key, value]: [string, unknown]): [string, Cell][] => {
    if (value === undefined) return [];
    if (value !== null && typeof value === 'object') return flat(value, `${prefix}${key}_`);
    return [[`${prefix}${key}`, value as Cell]];
  });
}

const line = (cells: readonly Cell[]): string => `${cells.map(cell).join(',')}\r\n`;

function cell(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  // A spreadsheet evaluates a text that looks like a formula. A leading quote prevents this.
  const inert = defuseFormula(value);
  return /^[\w .-]*$/.test(inert) ? inert : `"${escapeTerminalLine(inert).replaceAll('"', '""')}"`;
}
