import { formatMs, formatUsd } from '@agentci/lib/numbers';
import { escapeTerminalLine, formatCount, plural } from '@agentci/lib/text';
import { verdictLines } from '@agentci/policy';
import type { PolicyResult } from '@agentci/results';
import {
  type CheckResult,
  type CheckStatus,
  casesText,
  caseText,
  cassetteText,
  countsOf,
  LAYERS,
  type Layer,
  type QueryResult,
  type RunResult,
  type Usage,
  usagePerRun,
} from '@agentci/results';
import { createColors } from 'picocolors';
import { answerLines } from './answer-lines.ts';
import { cellTable } from './cell-tables.ts';
import { conversationLines, foundInTurns } from './conversation-lines.ts';
import { groupLine, shownGroups } from './failure-lines.ts';
import { freeMetrics, metricText } from './metric-values.ts';
import { passHatTable } from './pass-hat-k.ts';
import { repeatLines } from './repeat-lines.ts';
import type { ReportContext, Reporter } from './reporter.ts';
import { type Colors, countLine, exitLine, MAX_UNMEASURED } from './verdict-line.ts';

/** Above this number passing queries are only counted, because the others need reading. */
const MAX_LISTED_PASSES = 40;
const MAX_STDERR_LINES = 8;
const RANKED = 3;
const MAX_WARNINGS = 5;
/** A longer cell shifts the rest of its own line only. */
const MAX_COLUMN = 32;
const MAX_METRIC_TEXT = 160;

export const reporter: Reporter = {
  name: 'console',
  summary: 'the three-layer report for people',
  extensions: ['.txt'],
  machineReadable: false,
  render: (run, context) => ({ text: `${renderConsole(run, context)}\n` }),
};

function renderConsole(run: RunResult, context: ReportContext): string {
  const c = createColors(context.color);
  const lines: string[] = [];
  const passes = run.results.filter((result) => result.status === 'pass').length;
  const listPasses = !context.quiet && passes <= MAX_LISTED_PASSES;
  if (!context.quiet) {
    lines.push(
      `${c.bold(escapeTerminalLine(run.agent))} ${c.dim(`· ${escapeTerminalLine(run.spec.file)} · ${casesText(run.results)}`)}`,
      '',
    );
  }
  for (const check of run.checks)
    lines.push(...checkLines(check, c, { indent: 2, name: check.id }));
  const listed = run.results.filter(
    ({ status, not_run }) =>
      (status !== 'pass' || listPasses) &&
      (!context.quiet || status === 'fail' || status === 'error') &&
      // Queries not run because of an interruption get one line at the end.
      !(run.interrupted && not_run !== undefined),
  );
  const metricLine = metricLines(listed, c);
  for (const result of listed)
    lines.push(...queryLines(result, c, { metrics: metricLine(result), context }));
  if (!listPasses && passes > 0 && !context.quiet)
    lines.push(c.dim(`  (${plural(passes, 'passing query', 'passing queries')} not listed)`));
  if (lines.at(-1) !== '') lines.push('');
  lines.push(...summaryLines(run, context, c));
  return lines.join('\n');
}

function queryLines(
  result: QueryResult,
  c: Colors,
  { metrics, context }: { readonly metrics: readonly string[]; readonly context: ReportContext },
): string[] {
  const head = `${badge(result.status, c)} ${c.bold(escapeTerminalLine(caseText(result)))}  ${clip(escapeTerminalLine(result.query), 100)}${numbers(result, c)}`;
  const warnings = warningLines(result, c);
  if (result.status === 'pass')
    return [
      head,
      ...warnings,
      ...(result.stability?.class === 'flaky'
        ? repeatLines(result).map((line) => `        ${line}`)
        : []),
      ...metrics,
    ];
  const lines = [head];
  if (result.not_run !== undefined) lines.push(c.dim(`        not run: ${result.not_run}`));
  if (result.skip !== undefined)
    lines.push(c.dim(`        skipped: ${escapeTerminalLine(result.skip.reason)}`));
  if (result.xfail && result.status === 'skip')
    lines.push(c.dim(`        expected failure: ${escapeTerminalLine(result.xfail.reason)}`));
  if (result.error) lines.push(...errorLines(result, c));
  lines.push(...warnings);
  if (result.conversation !== undefined)
    for (const line of conversationLines(result.conversation))
      lines.push(`        ${escapeTerminalLine(line)}`);
  else if (result.status === 'fail' || result.status === 'error')
    lines.push(...answerLines(result, c, context.color));
  for (const line of foundInTurns(result)) lines.push(`        ${escapeTerminalLine(line)}`);
  for (const line of repeatLines(result)) lines.push(`        ${line}`);
  for (const layer of LAYERS) lines.push(...layerLines(result, layer, c));
  lines.push(...metrics, '');
  return lines;
}

/** Warnings about the recording, shown with any verdict. */
const warningLines = ({ warnings = [] }: QueryResult, c: Colors): string[] =>
  warnings
    .slice(0, MAX_WARNINGS)
    .map(
      ({ message }) => `        ${c.yellow('!')} trace: ${clip(escapeTerminalLine(message), 300)}`,
    )
    .concat(
      warnings.length > MAX_WARNINGS
        ? [c.dim(`          and ${warnings.length - MAX_WARNINGS} more`)]
        : [],
    );

/** One line per query for metrics without a bound, in columns over all queries. */
function metricLines(
  results: readonly QueryResult[],
  c: Colors,
): (result: QueryResult) => string[] {
  const cells = new Map(
    results.map((result) => [
      result,
      freeMetrics(result).map((metric) => ({
        name: metric.name,
        text: clip(escapeTerminalLine(metricText(metric)), MAX_METRIC_TEXT),
      })),
    ]),
  );
  const widths = new Map<string, number>();
  for (const { name, text } of [...cells.values()].flat())
    if (text.length <= MAX_COLUMN) widths.set(name, Math.max(widths.get(name) ?? 0, text.length));
  return (result) => {
    const own = cells.get(result) ?? [];
    if (own.length === 0) return [];
    const line = own.map(({ name, text }) => text.padEnd(widths.get(name) ?? 0)).join('  ');
    return [c.dim(`      ${'Metrics'.padEnd(12)} ${line.trimEnd()}`)];
  };
}

function errorLines(result: QueryResult, c: Colors): string[] {
  const { message, stderr } = result.error!;
  const lines = [
    `        ${c.magenta('error')}  ${escapeTerminalLine(message)}${place(result.location, c)}`,
  ];
  const tail = (stderr ?? '').trimEnd().split('\n').filter(Boolean).slice(-MAX_STDERR_LINES);
  for (const line of tail) lines.push(c.dim(`          | ${clip(escapeTerminalLine(line), 160)}`));
  return lines;
}

const TITLES: Record<Layer, string> = { correctness: 'Correctness', path: 'Path', cost: 'Cost' };

function layerLines(result: QueryResult, layer: Layer, c: Colors): string[] {
  const { checks, status } = result[layer];
  if (checks.length === 0) return [];
  const lines = [`      ${TITLES[layer].padEnd(12)} ${paint(status, c)(status)}`];
  for (const check of checks)
    lines.push(
      ...checkLines(check, c, { indent: 8, name: check.id.slice(check.id.indexOf('.') + 1) }),
    );
  if (layer === 'path') lines.push(...policyLines(result));
  return lines;
}

/** The findings of a policy in full. */
function policyLines({ path }: QueryResult): string[] {
  const results = Array.isArray(path.details.policy) ? (path.details.policy as PolicyResult[]) : [];
  return results
    .flatMap(verdictLines)
    .map((line) => (line === '' ? '' : `        ${escapeTerminalLine(line)}`));
}

const MARKS: Record<CheckStatus, string> = {
  pass: '✓',
  warn: '!',
  fail: '✗',
  error: '?',
  skip: '-',
};

function checkLines(
  check: CheckResult,
  c: Colors,
  { indent, name }: { indent: number; name: string },
): string[] {
  const mark = paint(check.status, c)(MARKS[check.status]);
  const text = escapeTerminalLine(named(check, name));
  const reason = check.skip_reason === undefined ? '' : c.dim(` (${check.skip_reason})`);
  if (check.status === 'pass') return [`${' '.repeat(indent)}${mark} ${c.dim(text)}`];
  return [`${' '.repeat(indent)}${mark} ${text}${reason}${place(check.location, c)}`];
}

/** Does not repeat a check name that its message starts with. */
function named({ id, message }: CheckResult, name: string): string {
  const own = id.slice(id.indexOf('.') + 1);
  const rest = message.startsWith(own) ? message.slice(own.length) : '';
  return /^:? /.test(rest) ? `${name}${rest}` : `${name}: ${message}`;
}

const place = (location: CheckResult['location'], c: Colors): string =>
  location
    ? c.dim(`  ${escapeTerminalLine(location.file)}:${location.line}:${location.column}`)
    : '';

function badge(status: CheckStatus, c: Colors): string {
  return paint(status, c)(`${MARKS[status]} ${status.padEnd(5)}`);
}

function paint(status: CheckStatus, c: Colors): (text: string) => string {
  return { pass: c.green, warn: c.yellow, fail: c.red, error: c.magenta, skip: c.dim }[status];
}

/** Known resource use of a query. */
function numbers(result: QueryResult, c: Colors): string {
  const { cost_usd, total_tokens, latency_ms } = usagePerRun(result);
  const { pass_rate: rate, status } = result;
  const parts = [
    // A query that did not pass has a separate line for it.
    rate === undefined || status !== 'pass'
      ? undefined
      : `${rate.passed} of ${plural(rate.decided, 'run')} passed`,
    cost_usd == null
      ? undefined
      : `${formatUsd(cost_usd)}${isReplayed(result) ? ' (recorded)' : ''}`,
    total_tokens == null ? undefined : plural(Math.round(total_tokens), 'token'),
    latency_ms == null ? undefined : formatMs(latency_ms),
  ].filter((part) => part !== undefined);
  const runs = result.runs?.length ?? 1;
  if (runs > 1 && (cost_usd ?? total_tokens ?? latency_ms ?? null) !== null)
    parts.push(`mean of ${runs} runs`);
  return parts.length === 0 ? '' : c.dim(`  ${parts.join(' · ')}`);
}

/** Its cost was paid when its calls were recorded. */
const isReplayed = ({ cassette }: QueryResult): boolean =>
  (cassette?.hits ?? 0) > 0 && (cassette?.new ?? 0) === 0;

function summaryLines(run: RunResult, context: ReportContext, c: Colors): string[] {
  const { summary } = run;
  const lines = [countLine(run, c)];
  if (summary.xfailed > 0)
    lines.push(c.dim(`${formatCount(summary.xfailed)} of the skipped are expected failures`));
  lines.push(
    ...cellLines(run, c),
    ...passHatLines(run, c),
    ...unsaidLine(run, c),
    ...warnedLine(run, c),
  );
  lines.push(...groupLines(run, c));
  if (!context.quiet) lines.push(...rankings(run, c), ...judgeLine(run, c));
  if (run.cassette !== undefined) lines.push(c.dim(cassetteText(run.cassette, run)));
  for (const notice of run.notices) lines.push(c.dim(`note: ${escapeTerminalLine(notice)}`));
  lines.push(exitLine(run, c));
  if (context.rerunCommand !== undefined && run.interrupted) {
    lines.push(
      `${c.dim('continue with:')} ${context.rerunCommand.replace(/--failed$/, '--resume')}`,
    );
  } else if (context.rerunCommand !== undefined && (summary.failed > 0 || summary.errors > 0)) {
    lines.push(`${c.dim('run only these again:')} ${context.rerunCommand}`);
  }
  return lines;
}

/** Many failures often have few causes. */
function groupLines(run: RunResult, c: Colors): string[] {
  const groups = shownGroups(run);
  if (groups.length === 0) return [];
  return [
    c.dim('failures by cause:'),
    ...groups.map((group) => `  ${escapeTerminalLine(groupLine(group))}`),
  ];
}

function cellLines(run: RunResult, c: Colors): string[] {
  const table = cellTable(run);
  if (table === undefined) return [];
  const rows = [table.head, ...table.rows].map((row) =>
    row.map((cell) => clip(escapeTerminalLine(cell), 120)),
  );
  const widths = table.head.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  const line = (row: readonly string[]): string =>
    `  ${row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ')}`.trimEnd();
  const [head = [], ...rest] = rows;
  return ['', 'by cell:', c.dim(line(head)), ...rest.map(line), ''];
}

/** pass^k in columns. */
function passHatLines({ summary }: RunResult, c: Colors): string[] {
  const { head, rows } = passHatTable(summary);
  if (rows.length === 0) return [];
  const width = Math.max(
    ...[head, ...rows].flatMap((row) => row.slice(1).map((cell) => cell.length)),
  );
  const line = ([name = '', ...cells]: readonly string[]): string =>
    `  ${name.padEnd(14)}  ${cells.map((cell) => cell.padStart(width)).join('  ')}`;
  return ['', 'all of k runs passed, over the queries:', c.dim(line(head)), ...rows.map(line), ''];
}

/** Passing queries list no checks, so their unmeasured ones appear here. */
function unsaidLine(run: RunResult, c: Colors): string[] {
  const passed = run.results.filter(({ status }) => status === 'pass');
  const counts = new Map<string, number>();
  for (const result of passed)
    for (const id of countsOf(result).unmeasured) counts.set(id, (counts.get(id) ?? 0) + 1);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return [];
  const named = [...counts]
    .slice(0, MAX_UNMEASURED)
    .map(([id, n]) => `${escapeTerminalLine(id)}${n > 1 ? ` × ${n}` : ''}`);
  const more =
    counts.size > MAX_UNMEASURED ? ` and ${formatCount(counts.size - MAX_UNMEASURED)} more` : '';
  return [
    c.yellow(
      `${plural(total, 'check')} of passed queries could not be measured: ${named.join(', ')}${more}`,
    ),
  ];
}

/** Warnings about recordings by kind, because passing queries may not be listed. */
function warnedLine({ results }: RunResult, c: Colors): string[] {
  const counts = new Map<string, number>();
  for (const { warnings = [] } of results)
    for (const { code } of warnings) counts.set(code, (counts.get(code) ?? 0) + 1);
  if (counts.size === 0) return [];
  const named = [...counts].map(
    ([code, n]) => `${escapeTerminalLine(code)}${n > 1 ? ` × ${n}` : ''}`,
  );
  return [c.yellow(`trace warnings: ${named.slice(0, MAX_UNMEASURED).join(', ')}`)];
}

/** The cost of judging, separate from the agent's. */
function judgeLine({ judge }: RunResult, c: Colors): string[] {
  const { calls, cached = 0, cost_usd, input_tokens = 0, output_tokens = 0 } = judge;
  if (calls + cached === 0) return [];
  const cost = cost_usd === null ? 'unknown cost' : formatUsd(cost_usd);
  return [
    c.dim(
      `judge: ${plural(calls, 'call')}, ${formatCount(cached)} stored, ${plural(input_tokens + output_tokens, 'token')}, ${cost}`,
    ),
  ];
}

function rankings(run: RunResult, c: Colors): string[] {
  if (run.results.length <= RANKED) return [];
  const rank = (
    title: string,
    value: (used: Usage) => number | null | undefined,
    format: (n: number) => string,
  ): string[] => {
    const ranked = run.results
      .map((result) => ({ id: caseText(result), n: value(usagePerRun(result)) }))
      .filter(
        (entry): entry is { id: string; n: number } => typeof entry.n === 'number' && entry.n > 0,
      )
      .sort((a, b) => b.n - a.n)
      .slice(0, RANKED);
    if (ranked.length === 0) return [];
    return [
      c.dim(
        `${title} ${ranked.map(({ id, n }) => `${escapeTerminalLine(id)} ${format(n)}`).join(', ')}`,
      ),
    ];
  };
  const mean = run.results.some(({ runs = [] }) => runs.length > 1) ? ', mean of its runs' : '';
  return [
    ...rank(`slowest${mean}:`, (actual) => actual.latency_ms, formatMs),
    ...rank(`most expensive${mean}:`, (actual) => actual.cost_usd, formatUsd),
  ];
}

const clip = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;
