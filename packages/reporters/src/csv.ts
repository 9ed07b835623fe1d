import { escapeTerminalLine } from '@agentci/lib/text';
import { type Cell, type CheckResult, cellText, LAYERS, type RunResult } from '@agentci/results';
import { warningId } from './findings.ts';
import { freeMetrics, freeRunMetrics, type MetricValue, metricText } from './metric-values.ts';
import type { Reporter } from './reporter.ts';

const COLUMNS = [
  'agent',
  'run_id',
  'query_id',
  'query',
  'query_status',
  'layer',
  'check',
  'status',
  'skip_reason',
  'message',
  'value',
  'limit',
  'file',
  'line',
  'column',
];

export const reporter: Reporter = {
  name: 'csv',
  summary: 'one row per check, for spreadsheets',
  extensions: ['.csv'],
  machineReadable: true,
  render: (run) => ({ text: renderCsv(run) }),
};

/**
 * RFC 4180. A query without checks has one row, so that every query appears. A metric without a
 * bound has a row without a status. Run-level rows have no query.
 */
function* renderCsv(run: RunResult): Generator<string> {
  // Only for runs with a matrix, so that other readers keep their columns.
  const hasCells = run.cells !== undefined;
  yield row(hasCells ? [...COLUMNS, 'cell'] : COLUMNS);
  for (const { cells, cell } of rowsOf(run))
    yield row(hasCells ? [...cells, cell && cellText(cell)] : cells);
}

interface Row {
  readonly cells: readonly unknown[];
  readonly cell?: Cell | undefined;
}

function* rowsOf(run: RunResult): Generator<Row> {
  const wholeRun = [run.agent, run.run_id, '', '', ''];
  for (const check of run.checks) yield { cells: checkRow(wholeRun, '', check) };
  for (const metric of freeRunMetrics(run)) yield { cells: metricRow(wholeRun, metric) };
  for (const { k, value, se, tasks } of run.summary.pass_hat_k ?? []) {
    const message = `all of ${k} runs passed, over ${tasks} queries${se === null ? '' : `; standard error ${se.toFixed(6)}`}`;
    yield {
      cells: [
        ...wholeRun,
        '',
        `run.pass_hat_${k}`,
        '',
        '',
        message,
        value,
        '',
        ...placeOf(undefined),
      ],
    };
  }
  for (const result of run.results) {
    const { cell } = result;
    const common = [run.agent, run.run_id, result.id, result.query, result.status];
    const checks = LAYERS.flatMap((layer) =>
      result[layer].checks.map((check) => ({ layer, check })),
    );
    if (checks.length === 0) {
      const why = result.error?.message ?? result.skip?.reason ?? result.not_run ?? '';
      yield {
        cells: [...common, '', '', result.status, '', why, '', '', ...placeOf(result.location)],
        cell,
      };
    }
    for (const { layer, check } of checks) yield { cells: checkRow(common, layer, check), cell };
    for (const { code, message } of result.warnings ?? [])
      yield {
        cells: [
          ...common,
          '',
          warningId(code),
          'warn',
          '',
          message,
          '',
          '',
          ...placeOf(result.location),
        ],
        cell,
      };
    for (const metric of freeMetrics(result)) yield { cells: metricRow(common, metric), cell };
  }
}

type Common = readonly string[];

const checkRow = (common: Common, layer: string, check: CheckResult): unknown[] => {
  const { id, status, skip_reason, message, value, limit, location } = check;
  return [...common, layer, id, status, skip_reason, message, value, limit, ...placeOf(location)];
};

const metricRow = (common: Common, metric: MetricValue): unknown[] => {
  const { value } = metric.result;
  const skipped = value === null ? 'not_measured' : '';
  return [
    ...common,
    '',
    `metric.${metric.name}`,
    '',
    skipped,
    metricText(metric),
    value,
    '',
    ...placeOf(undefined),
  ];
};

const placeOf = (location: CheckResult['location']): unknown[] => [
  location?.file,
  location?.line,
  location?.column,
];

const row = (cells: readonly unknown[]): string => `${cells.map(written).join(',')}\r\n`;

function written(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = escapeTerminalLine(text);
  // Spreadsheets run text that starts like a formula, and a leading quote prevents that. Checked on
  // the final text, because escaping may remove characters before a formula.
  const inert = /^\s*[=+\-@]/.test(line) ? `'${line}` : line;
  return `"${inert.replaceAll('"', '""')}"`;
}
