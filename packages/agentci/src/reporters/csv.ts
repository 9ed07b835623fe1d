import { escapeTerminalLine } from '../kit/escape.ts';
import { LAYERS, type RunResult } from '../results/run-result.ts';
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
  summary: 'one row a check, for spreadsheets',
  extensions: ['.csv'],
  machineReadable: true,
  render: (run) => ({ text: renderCsv(run) }),
};

/** RFC 4180. A query without checks has one row, so that every query is there. */
function* renderCsv(run: RunResult): Generator<string> {
  yield row(COLUMNS);
  for (const result of run.results) {
    const common = [run.agent, run.run_id, result.id, result.query, result.status];
    const checks = LAYERS.flatMap((layer) => result[layer].checks.map((check) => ({ layer, check })));
    if (checks.length === 0) {
      const why = result.error?.message ?? result.not_run ?? '';
      yield row([
        ...common,
        '',
        '',
        result.status,
        '',
        why,
        '',
        '',
        result.location?.file,
        result.location?.line,
        result.location?.column,
      ]);
    }
    for (const { layer, check } of checks) {
      const { location } = check;
      yield row([
        ...common,
        layer,
        check.id,
        check.status,
        check.skip_reason,
        check.message,
        check.value,
        check.limit,
        location?.file,
        location?.line,
        location?.column,
      ]);
    }
  }
}

const row = (cells: readonly unknown[]): string => `${cells.map(cell).join(',')}\r\n`;

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // A spreadsheet runs a text that starts like a formula; a quote in front keeps it a text.
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${escapeTerminalLine(inert).replaceAll('"', '""')}"`;
}
