import { formatMs, formatUsd } from '@agentci/lib/numbers';
import {
  escapeHtml,
  escapeMarkdownTableCell,
  escapeTerminal,
  escapeTerminalLine,
  formatCount,
  plural,
} from '@agentci/lib/text';
import type { RunVerdict } from '@agentci/results';
import {
  type CheckStatus,
  casesText,
  caseText,
  cassetteText,
  cellText,
  LAYERS,
  type QueryResult,
  type RunResult,
  usagePerRun,
} from '@agentci/results';
import { cellTable } from './cell-tables.ts';
import { changesOf, comparedText } from './change-lines.ts';
import { conversationLines, foundInTurns } from './conversation-lines.ts';
import { groupLine, shownGroups } from './failure-lines.ts';
import { freeMetrics, metricText } from './metric-values.ts';
import { OneScreen } from './one-screen.ts';
import { passHatTable } from './pass-hat-k.ts';
import type { ReportContext, Reporter } from './reporter.ts';

/** GitHub limits a comment to 65,536 characters. */
const MAX_CHARACTERS = 60_000;
/** Limit for one list, visible and folded. */
const MAX_SEEN = 5000;
const MAX_FOLDED = 4000;
/** Maximum visible details blocks. More are folded into one. */
const MAX_OPEN = 3;
/** Maximum visible changes, failures and cells. The rest is folded. */
const MAX_SHOWN = 5;
const MAX_NAME = 80;
const WORST: readonly CheckStatus[] = ['fail', 'error', 'warn', 'skip', 'pass'];
const ICONS: Record<CheckStatus, string> = {
  pass: '✅',
  warn: '⚠️',
  fail: '❌',
  error: '❓',
  skip: '➖',
};

export const reporter: Reporter = {
  name: 'markdown',
  summary: 'a table with details to unfold, for step summaries and pull-request comments',
  extensions: ['.md'],
  machineReadable: false,
  render: (run, context) => ({ text: renderMarkdown(run, context) }),
};

const tableHead = (told: readonly QueryResult[]): readonly string[] => [
  told.some(({ runs }) => runs !== undefined && runs.length > 1)
    ? '| query | correctness | path | cost | tokens per run | dollars per run | time per run |'
    : '| query | correctness | path | cost | tokens | dollars | time |',
  '| --- | --- | --- | --- | --- | --- | --- |',
];

function renderMarkdown(run: RunResult, context: ReportContext): string {
  const told = run.results
    .filter(({ status, warnings = [] }) => status !== 'pass' || warnings.length > 0)
    .sort((a, b) => WORST.indexOf(a.status) - WORST.indexOf(b.status));
  const screen = new OneScreen();
  const lines = [
    // The marker lets a later run find and update its own comment.
    `<!-- agentci:${escapeHtml(escapeTerminalLine(run.agent)).replaceAll('--', '- -')}:${escapeHtml(escapeTerminalLine(run.spec.file)).replaceAll('--', '- -')} -->`,
    `## ${ICONS[verdictOf(run)]} AgentCI: ${inline(run.agent)}`,
    '',
    `${headline(run)}${context.jobUrl === undefined ? '' : ` · ${linkOf('report and results', `${context.jobUrl}#artifacts`)}`}`,
    '',
    ...changeLines(run, context, screen),
    ...folded(
      run.checks.map((check) => `- ${ICONS[check.status]} ${inline(clip(check.message, 300))}`),
      { shown: isMatrix(run) ? 1 : 3, what: 'checks of the whole run', screen },
    ),
  ];
  // With a matrix, the failing cells come before the queries of each cell.
  lines.push(...cellLines(run, screen));
  if (told.length > 0) {
    const head = tableHead(told);
    lines.push(...folded(told.map(rowOf), { head, shown: MAX_SHOWN, what: 'queries', screen }));
  }
  lines.push(...groupLines(run, screen), ...passHatLines(run, screen));
  const tail = [
    ...(run.cassette === undefined
      ? []
      : [`> ${inline(clip(cassetteText(run.cassette, run), 200))}`, '']),
    ...folded(
      run.notices.map((notice) => `> ${inline(notice)}\n`),
      { shown: 2, what: 'notices', screen },
    ),
  ];
  let length = [...lines, ...tail].join('\n').length;
  const blocks: string[] = [];
  for (const result of told) {
    const block = detailsOf(result, context);
    if (length + block.length > MAX_CHARACTERS) continue;
    blocks.push(block);
    length += block.length;
  }
  // A closed block still takes a line, so many of them are folded into one.
  const isMany = blocks.length > MAX_OPEN;
  if (isMany) lines.push(`<details><summary>Details of ${blocks.length} queries</summary>`, '');
  lines.push(...blocks);
  if (isMany) lines.push('</details>', '');
  const left = told.length - blocks.length;
  if (left > 0)
    lines.push(
      `The details of ${plural(left, 'query', 'queries')} are left out: a comment has no more room.`,
      '',
    );
  lines.push(...metricTable(run.results, MAX_CHARACTERS - length), ...tail);
  return `${lines.join('\n').trimEnd()}\n`;
}

/** Keeps the table of cells visible by shortening everything before it. */
const isMatrix = ({ cells = [] }: RunResult): boolean => cells.length > 1;

const TITLES: Readonly<Record<RunVerdict, string>> = {
  nothing_to_compare: 'Nothing to compare',
  worse: 'Worse',
  better: 'Better',
  worse_within_limit: 'Worse, within the limit',
  inconclusive: 'Inconclusive',
  no_difference: 'Nothing changed',
};

/** The effect of this change, which reviewers want to know first. */
function changeLines(run: RunResult, context: ReportContext, screen: OneScreen): string[] {
  if (context.before === undefined) return [];
  const { comparison } = context.before;
  const changes = changesOf(run, context.before);
  const lines = changes.map(
    ({ status, name, text, result }) =>
      `- ${ICONS[status]} **${inline(result === undefined ? clip(name, MAX_NAME) : nameOf(result))}** ${inline(clip(text, 200))}${result === undefined ? '' : placeOf(result, context)}`,
  );
  return [
    `**${TITLES[comparison.verdict]}** against ${inline(clip(context.before.run.run_id, MAX_NAME))}, ${comparedText(context.before)}. ${inline(clip(comparison.headline, 300))}`,
    '',
    ...folded(lines, { shown: isMatrix(run) ? 2 : MAX_SHOWN, what: 'changes', screen }),
  ];
}

/** Location of the deciding check. */
function placeOf(result: QueryResult, context: ReportContext): string {
  const check = LAYERS.flatMap((layer) => result[layer].checks).find(
    ({ status }) => status === result.status,
  );
  const location = check?.location ?? result.location;
  return location === undefined || result.status === 'pass'
    ? ''
    : ` — ${lineLink(location, context)}`;
}

function lineLink(
  { file, line }: { file: string; line: number },
  { publicPath, lineUrl }: ReportContext,
): string {
  const url = lineUrl?.(file, line);
  const text = `${publicPath(file)}:${line}`;
  return url === undefined ? inline(text) : linkOf(text, url);
}

/** A trusted link, with characters encoded that could end the address early. */
const linkOf = (text: string, url: string): string =>
  `[${inline(text)}](${encodeURI(decodeSafely(url)).replace(/[()<>\s]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)})`;

function decodeSafely(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

/** The first lines that fit. */
function fitting(lines: readonly string[], room: number): readonly string[] {
  let length = 0;
  const end = lines.findIndex((line) => {
    length += line.length + 1;
    return length > room;
  });
  return end < 0 ? lines : lines.slice(0, end);
}

/** Singular forms. */
const SINGLE = {
  changes: 'change',
  queries: 'query',
  cells: 'cell',
  notices: 'notice',
  'checks of the whole run': 'check of the whole run',
  'causes of failures': 'cause of failures',
  'rates over repeats': 'rate over repeats',
} as const;
type Listed = keyof typeof SINGLE;

/** Shows the first lines that fit and folds the others. */
function folded(
  lines: readonly string[],
  {
    head = [],
    shown,
    what,
    screen,
  }: { head?: readonly string[]; shown: number; what: Listed; screen: OneScreen },
): string[] {
  if (lines.length === 0) return [];
  const first = fitting(lines.slice(0, screen.take(lines, { head, most: shown })), MAX_SEEN);
  const rest = lines.slice(first.length);
  const seen = first.length === 0 ? [] : [...head, ...first, ''];
  if (rest.length === 0) return seen;
  const more = fitting(rest, MAX_FOLDED);
  const left = rest.length - more.length;
  return [
    ...seen,
    `<details><summary>${rest.length} ${first.length === 0 ? '' : 'more '}${rest.length === 1 ? SINGLE[what] : what}</summary>`,
    '',
    ...head,
    ...more,
    '',
    ...(left > 0 ? [`${left} are left out: a comment has no more room.`, ''] : []),
    '</details>',
    '',
  ];
}

/** Many failures often have few causes. */
function groupLines(run: RunResult, screen: OneScreen): string[] {
  const lines = shownGroups(run).map((group) => `- ${inline(groupLine(group))}`);
  if (lines.length === 0) return [];
  const blocks = folded(lines, { shown: 3, what: 'causes of failures', screen });
  return lines.length > 0 && blocks[0] === lines[0]
    ? ['**Failures by cause**', '', ...blocks]
    : blocks;
}

function cellLines(run: RunResult, screen: OneScreen): string[] {
  const table = cellTable(run);
  if (table === undefined) return [];
  const row = (cells: readonly string[]): string => `| ${cells.map(inline).join(' | ')} |`;
  const head = [row(table.head), `| ${table.head.map(() => '---').join(' | ')} |`];
  return folded(table.rows.map(row), { head, shown: MAX_SHOWN, what: 'cells', screen });
}

function passHatLines({ summary }: RunResult, screen: OneScreen): string[] {
  const { head, rows } = passHatTable(summary);
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const top = [row(head), row(head.map(() => '---'))];
  return folded(rows.map(row), { head: top, shown: MAX_SHOWN, what: 'rates over repeats', screen });
}

/** Metrics without a bound, for every query that has some. They show how well a query passed. */
function metricTable(results: readonly QueryResult[], room: number): string[] {
  const rows = results.flatMap((result) => {
    const cells = freeMetrics(result).map((metric) => inline(metricText(metric)));
    return cells.length === 0
      ? []
      : [`| ${escapeMarkdownTableCell(caseText(result))} | ${cells.join(' · ')} |`];
  });
  if (rows.length === 0) return [];
  const lines = [
    '<details><summary>Metrics</summary>',
    '',
    '| query | measured |',
    '| --- | --- |',
  ];
  let length = lines.join('\n').length;
  // Counts the rest after the first row that does not fit, because a table with gaps would look
  // complete.
  const fitting = rows.findIndex((row) => {
    length += row.length + 1;
    return length > room;
  });
  const shown = fitting < 0 ? rows : rows.slice(0, fitting);
  const left = rows.length - shown.length;
  lines.push(...shown, '');
  if (left > 0)
    lines.push(
      `The metrics of ${plural(left, 'query', 'queries')} are left out: there is no more room.`,
      '',
    );
  return [...lines, '</details>', ''];
}

function verdictOf({ summary, checks }: RunResult): CheckStatus {
  if (summary.failed > 0 || checks.some(({ status }) => status === 'fail')) return 'fail';
  if (summary.exit_code !== 0) return 'error';
  return summary.warnings > 0 ? 'warn' : 'pass';
}

function headline({ summary, results }: RunResult): string {
  const counts = [
    [summary.passed - summary.warnings, 'passed'],
    [summary.warnings, 'warned'],
    [summary.failed, 'failed'],
    [summary.errors, 'could not be judged'],
    [summary.skipped, 'skipped'],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return `**${casesText(results)}**: ${parts.join(', ') || 'none'} (exit ${summary.exit_code})`;
}

/** Shortens the id before the cell, which distinguishes it from others. */
function nameOf({ id, cell }: QueryResult): string {
  const whole = caseText({ id, cell });
  if (whole.length <= MAX_NAME || cell === undefined) return clip(whole, MAX_NAME);
  const where = clip(cellText(cell), MAX_NAME / 2);
  const room = MAX_NAME - where.length - 3;
  // Similar ids usually end in a number.
  return `${id.length <= room ? id : `${id.slice(0, room - 9)}…${id.slice(-8)}`} (${where})`;
}

function rowOf(result: QueryResult): string {
  const actual = usagePerRun(result);
  const cells = [
    `${ICONS[result.status]} ${inline(nameOf(result))}`,
    ...LAYERS.map((layer) => ICONS[result[layer].status]),
    actual.total_tokens == null ? '' : formatCount(Math.round(actual.total_tokens)),
    actual.cost_usd == null ? '' : formatUsd(actual.cost_usd),
    // Keeps a number and its unit on one line.
    actual.latency_ms == null ? '' : formatMs(actual.latency_ms).replaceAll(' ', '&#160;'),
  ];
  return `| ${cells.join(' | ')} |`;
}

function detailsOf(result: QueryResult, context: ReportContext): string {
  const lines = [
    `<details><summary>${ICONS[result.status]} <b>${inline(nameOf(result))}</b> ${inline(clip(result.query, 60))}</summary>`,
    '',
  ];
  if (result.error) lines.push(`- ${ICONS.error} ${inline(result.error.message)}`);
  if (result.skip) lines.push(`- skipped: ${inline(result.skip.reason)}`);
  if (result.not_run) lines.push(`- not run: ${inline(result.not_run)}`);
  if (result.xfail) lines.push(`- expected failure: ${inline(result.xfail.reason)}`);
  if (result.pass_rate)
    lines.push(`- ${result.pass_rate.passed} of ${result.pass_rate.decided} runs passed`);
  for (const { message } of result.warnings ?? [])
    lines.push(`- ${ICONS.warn} trace: ${inline(message)}`);
  for (const layer of LAYERS) {
    for (const check of result[layer].checks) {
      const place =
        check.location && check.status !== 'pass' ? ` — ${lineLink(check.location, context)}` : '';
      lines.push(`- ${ICONS[check.status]} ${inline(check.id)}: ${inline(check.message)}${place}`);
    }
  }
  if (result.baseline) lines.push(`- ${inline(againstBaseline(result, result.baseline.version))}`);
  if (result.conversation !== undefined)
    lines.push('', preOf(conversationLines(result.conversation, 400).join('\n')));
  else if (result.answer !== null) lines.push('', preOf(clip(result.answer, 1000)));
  for (const line of foundInTurns(result)) lines.push('', preOf(line));
  return [...lines, '', '</details>', ''].join('\n');
}

const preOf = (text: string): string =>
  `<pre>${escapeHtml(escapeTerminal(text)).replaceAll('\n', '&#10;')}</pre>`;

/** Multiples of the baseline's usage, and the similarity of both paths. */
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

/** Text inside a list item: no markup, one line. */
const inline = (text: string): string => escapeMarkdownTableCell(clip(text, 500));

const clip = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;
