import { escapeTerminalLine } from '../kit/escape.ts';
import { type CheckResult, LAYERS, type RunResult } from '../results/run-result.ts';
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
 * RFC 4180. A query without checks has one row, so that every query is there. A metric without a bound has a row without a
 * status, since it decides nothing; what is about the whole run has no query.
 */
function* renderCsv(run: RunResult): Generator<string> {
  yield row(COLUMNS);
  const wholeRun = [run.agent, run.run_id, '', '', ''];
  for (const check of run.checks) yield checkRow(wholeRun, '', check);
  for (const metric of freeRunMetrics(run)) yield metricRow(wholeRun, metric);
  for (const { k, value, se, tasks } of run.summary.pass_hat_k ?? []) {
    const message = `all of ${k} runs passed, over ${tasks} queries${se === null ? '' : `; standard error ${se.toFixed(6)}`}`;
    yield row([...wholeRun, '', `run.pass_hat_${k}`, '', '', message, value, '', ...placeOf(undefined)]);
  }
  for (const result of run.results) {
    const common = [run.agent, run.run_id, result.id, result.query, result.status];
    const checks = LAYERS.flatMap((layer) => result[layer].checks.map((check) => ({ layer, check })));
    if (checks.length === 0) {
      const why = result.error?.message ?? result.not_run ?? '';
      yield row([...common, '', '', result.status, '', why, '', '', ...placeOf(result.location)]);
    }
    for (const { layer, check } of checks) yield checkRow(common, layer, check);
    for (const { code, message } of result.warnings ?? [])
      yield row([...common, '', warningId(code), 'warn', '', message, '', '', ...placeOf(result.location)]);
    for (const metric of freeMetrics(result)) yield metricRow(common, metric);
  }
}

type Common = readonly string[];

const checkRow = (common: Common, layer: string, check: CheckResult): string => {
  const { id, status, skip_reason, message, value, limit, location } = check;
  return row([...common, layer, id, status, skip_reason, message, value, limit, ...placeOf(location)]);
};

const metricRow = (common: Common, metric: MetricValue): string => {
  const { value } = metric.result;
  const skipped = value === null ? 'not_measured' : '';
  return row([
    ...common,
    '',
    `metric.${metric.name}`,
    '',
    skipped,
    metricText(metric),
    value,
    '',
    ...placeOf(undefined),
  ]);
};

const placeOf = (location: CheckResult['location']): unknown[] => [location?.file, location?.line, location?.column];

const row = (cells: readonly unknown[]): string => `${cells.map(cell).join(',')}\r\n`;

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = escapeTerminalLine(text);
  // A spreadsheet runs a text that starts like a formula; a quote in front keeps it a text. Asked of what is written: what
  // was in front of a formula may be gone by then.
  const inert = /^\s*[=+\-@]/.test(line) ? `'${line}` : line;
  return `"${inert.replaceAll('"', '""')}"`;
}
