import { escapeHtml, escapeMarkdownTableCell, escapeTerminal, escapeTerminalLine } from '../kit/escape.ts';
import { formatMs, formatUsd } from '../kit/format-number.ts';
import { plural } from '../kit/words.ts';
import { cassetteText } from '../results/cassette-text.ts';
import { caseText } from '../results/cell.ts';
import { type CheckStatus, LAYERS, type QueryResult, type RunResult } from '../results/run-result.ts';
import { cellTable } from './cell-tables.ts';
import { conversationLines } from './conversation-lines.ts';
import { groupLine, shownGroups } from './failure-lines.ts';
import { freeMetrics, metricText } from './metric-values.ts';
import { passHatTable } from './pass-hat-k.ts';
import type { ReportContext, Reporter } from './reporter.ts';

/** A comment on GitHub holds 65,536 characters. */
const MAX_CHARACTERS = 60_000;
const ICONS: Record<CheckStatus, string> = { pass: '✅', warn: '⚠️', fail: '❌', error: '❓', skip: '➖' };

export const reporter: Reporter = {
  name: 'markdown',
  summary: 'a table with details to unfold, for step summaries and pull-request comments',
  extensions: ['.md'],
  machineReadable: false,
  render: (run, context) => ({ text: renderMarkdown(run, context) }),
};

function renderMarkdown(run: RunResult, context: ReportContext): string {
  const told = run.results.filter(({ status, warnings = [] }) => status !== 'pass' || warnings.length > 0);
  const lines = [
    // The marker lets a later run find its own comment and update it in place.
    `<!-- agentci:${escapeHtml(escapeTerminalLine(run.agent)).replaceAll('--', '- -')}:${escapeHtml(escapeTerminalLine(run.spec.file)).replaceAll('--', '- -')} -->`,
    `## ${ICONS[verdictOf(run)]} AgentCI: ${inline(run.agent)}`,
    '',
    headline(run),
    '',
  ];
  for (const check of run.checks) lines.push(`- ${ICONS[check.status]} ${inline(check.message)}`);
  // Without it the table would be taken for more of the last item.
  if (run.checks.length > 0) lines.push('');
  lines.push(...cellLines(run));
  if (told.length > 0) {
    lines.push(
      '| query | correctness | path | cost | tokens | dollars | time |',
      '| --- | --- | --- | --- | --- | --- | --- |',
    );
    lines.push(...told.map((result) => rowOf(result)), '');
  }
  lines.push(...passHatLines(run), ...groupLines(run));
  let length = lines.join('\n').length;
  let left = 0;
  for (const result of told) {
    const block = detailsOf(result, context);
    if (length + block.length > MAX_CHARACTERS) {
      left++;
      continue;
    }
    lines.push(block);
    length += block.length;
  }
  if (left > 0)
    lines.push(`The details of ${plural(left, 'query', 'queries')} are left out: a comment has no more room.`, '');
  lines.push(...metricTable(run.results, MAX_CHARACTERS - length));
  if (run.cassette !== undefined) lines.push(`> ${inline(cassetteText(run.cassette, run))}`, '');
  for (const notice of run.notices) lines.push(`> ${inline(notice)}`, '');
  return `${lines.join('\n').trimEnd()}\n`;
}

/** Many failures are mostly few causes. */
function groupLines(run: RunResult): string[] {
  const groups = shownGroups(run);
  if (groups.length === 0) return [];
  return ['**Failures by cause**', '', ...groups.map((group) => `- ${inline(groupLine(group))}`), ''];
}

/** The cells of the matrix beside each other. */
function cellLines(run: RunResult): string[] {
  const table = cellTable(run);
  if (table === undefined) return [];
  const row = (cells: readonly string[]): string => `| ${cells.map(inline).join(' | ')} |`;
  return [row(table.head), `| ${table.head.map(() => '---').join(' | ')} |`, ...table.rows.map(row), ''];
}

function passHatLines({ summary }: RunResult): string[] {
  const { head, rows } = passHatTable(summary);
  if (rows.length === 0) return [];
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [row(head), row(head.map(() => '---')), ...rows.map(row), ''];
}

/** The values that decide nothing, of every query that has some: how well a query passed is what they are for. */
function metricTable(results: readonly QueryResult[], room: number): string[] {
  const rows = results.flatMap((result) => {
    const cells = freeMetrics(result).map((metric) => inline(metricText(metric)));
    return cells.length === 0 ? [] : [`| ${escapeMarkdownTableCell(caseText(result))} | ${cells.join(' · ')} |`];
  });
  if (rows.length === 0) return [];
  const lines = ['<details><summary>Metrics</summary>', '', '| query | measured |', '| --- | --- |'];
  let length = lines.join('\n').length;
  // Once one does not fit the rest is counted: a table with holes would look whole.
  const fitting = rows.findIndex((row) => {
    length += row.length + 1;
    return length > room;
  });
  const shown = fitting < 0 ? rows : rows.slice(0, fitting);
  const left = rows.length - shown.length;
  lines.push(...shown, '');
  if (left > 0)
    lines.push(`The metrics of ${plural(left, 'query', 'queries')} are left out: there is no more room.`, '');
  return [...lines, '</details>', ''];
}

function verdictOf({ summary, checks }: RunResult): CheckStatus {
  if (summary.failed > 0 || checks.some(({ status }) => status === 'fail')) return 'fail';
  if (summary.exit_code !== 0) return 'error';
  return summary.warnings > 0 ? 'warn' : 'pass';
}

function headline({ summary }: RunResult): string {
  const counts = [
    [summary.passed - summary.warnings, 'passed'],
    [summary.warnings, 'warned'],
    [summary.failed, 'failed'],
    [summary.errors, 'could not be judged'],
    [summary.skipped, 'skipped'],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return `**${plural(summary.total, 'query', 'queries')}**: ${parts.join(', ') || 'none'} (exit ${summary.exit_code})`;
}

function rowOf(result: QueryResult): string {
  const actual = (result.cost.details.actual ?? {}) as {
    total_tokens?: number | null;
    cost_usd?: number | null;
    latency_ms?: number | null;
  };
  const cells = [
    `${ICONS[result.status]} ${escapeMarkdownTableCell(caseText(result))}`,
    ...LAYERS.map((layer) => ICONS[result[layer].status]),
    actual.total_tokens == null ? '' : String(actual.total_tokens),
    actual.cost_usd == null ? '' : formatUsd(actual.cost_usd),
    actual.latency_ms == null ? '' : formatMs(actual.latency_ms),
  ];
  return `| ${cells.join(' | ')} |`;
}

function detailsOf(result: QueryResult, { publicPath }: ReportContext): string {
  const lines = [
    `<details><summary>${ICONS[result.status]} <b>${escapeHtml(caseText(result))}</b> ${escapeHtml(escapeTerminalLine(clip(result.query, 120)))}</summary>`,
    '',
  ];
  if (result.error) lines.push(`- ${ICONS.error} ${inline(result.error.message)}`);
  if (result.skip) lines.push(`- skipped: ${inline(result.skip.reason)}`);
  if (result.not_run) lines.push(`- not run: ${inline(result.not_run)}`);
  if (result.xfail) lines.push(`- expected failure: ${inline(result.xfail.reason)}`);
  if (result.pass_rate) lines.push(`- ${result.pass_rate.passed} of ${result.pass_rate.decided} runs passed`);
  for (const { message } of result.warnings ?? []) lines.push(`- ${ICONS.warn} trace: ${inline(message)}`);
  for (const layer of LAYERS) {
    for (const check of result[layer].checks) {
      const place =
        check.location && check.status !== 'pass'
          ? ` — ${inline(publicPath(check.location.file))}:${check.location.line}`
          : '';
      lines.push(`- ${ICONS[check.status]} ${inline(check.id)}: ${inline(check.message)}${place}`);
    }
  }
  if (result.baseline) lines.push(`- ${inline(againstBaseline(result, result.baseline.version))}`);
  if (result.conversation !== undefined) lines.push('', preOf(conversationLines(result.conversation, 400).join('\n')));
  else if (result.answer !== null) lines.push('', preOf(clip(result.answer, 1000)));
  return [...lines, '', '</details>', ''].join('\n');
}

const preOf = (text: string): string => `<pre>${escapeHtml(escapeTerminal(text)).replaceAll('\n', '&#10;')}</pre>`;

/** What the baseline's run used, as multiples, and how alike the two ways were. */
function againstBaseline({ path, cost }: QueryResult, version: string): string {
  const numbers = [
    ['cost', cost.details.cost_multiplier, '×'],
    ['tokens', cost.details.token_multiplier, '×'],
    ['latency', cost.details.latency_multiplier, '×'],
    ['sequence similarity', path.details.sequence_similarity, ''],
  ] as const;
  const parts = numbers.flatMap(([name, value, sign]) =>
    typeof value === 'number' ? [`${name} ${sign}${value}`] : [],
  );
  return `compared with baseline ${version}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`;
}

/** Text in a list: no markup of its own, no line of its own. */
const inline = (text: string): string => escapeMarkdownTableCell(clip(text, 500));

const clip = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
