import { escapeTerminalLine, plural } from '@agentci/lib/text';
import type { CheckStatus, DiffReport, QueryDiff, RunComparison } from '@agentci/results';
import { NOT_COUNTED } from '@agentci/results';
import { box } from './box.ts';
import { answerLines, changeOf, comparisonText, counted, rowsOf, SIGNS, short } from './words.ts';

const MAX_LINES = 20;
const MAX_UNCHANGED = 10;
const ANSWER_CHARACTERS = 90;

/** The three-tier report in a box, for people. */
export function renderDiffConsole(report: DiffReport): string {
  const lines: (string | null)[] = [
    `AgentCI Diff: ${report.agent} (${report.from_version} → ${report.to_version})`,
    null,
    '',
  ];
  const told = report.queries.filter((query) => query.layers.length > 0 || query.has_regression);
  for (const query of report.queries.length === 1 ? report.queries : told)
    lines.push(...queryLines(query), '');
  const same = report.queries.length - told.length;
  if (report.queries.length > 1 && same > 0) {
    const ids = report.queries.filter((query) => !told.includes(query)).map((query) => query.id);
    const more = ids.length > MAX_UNCHANGED ? ` and ${ids.length - MAX_UNCHANGED} more` : '';
    lines.push(`Unchanged: ${ids.slice(0, MAX_UNCHANGED).join(', ')}${more}`, '');
  }
  if (report.comparison !== undefined && report.comparison.length > 0) {
    lines.push(`Over all ${plural(report.queries.length, 'query', 'queries')}:`);
    for (const metric of report.comparison)
      lines.push(`   ${`${metric.metric}:`.padEnd(14)} ${comparisonText(metric)}`);
    lines.push('');
  }
  return `${box(lines)}\n${footer(report).map(escapeTerminalLine).join('\n')}\n`;
}

const ICONS: Record<CheckStatus, string> = {
  pass: '✅',
  warn: '✅',
  fail: '❌',
  error: '❓',
  skip: '➖',
};

function queryLines(query: QueryDiff): string[] {
  const lines = [`${query.id}  ${query.query}`, '', correctnessLine(query)];
  for (const check of query.correctness.checks) {
    lines.push(`     ${check.id}: ${word(check.before)} → ${word(check.after)}  ${check.message}`);
  }
  if (query.correctness.answer.changed) {
    const { before, after } = answerLines(query.correctness.answer.edits, ANSWER_CHARACTERS);
    lines.push(`     Answer:  - ${before}`, `              + ${after}`);
  }
  const rows = rowsOf(query);
  for (const [layer, title] of [
    ['path', '📈 Path:'],
    ['cost', '💰 Cost:'],
  ] as const) {
    const own = rows.filter((row) => row.layer === layer);
    const detail = layer === 'path' ? pathDetails(query) : [];
    if (own.length + detail.length === 0) continue;
    lines.push('', title, ...verdictLines(query, layer));
    for (const row of own) {
      const { values, note } = changeOf(row);
      lines.push(`   ${`${row.title}:`.padEnd(18)} ${values}${note === '' ? '' : `  (${note})`}`);
    }
    lines.push(...detail);
  }
  for (const regression of query.regressions)
    lines.push('', `❌ Regression: ${regression.message}`);
  return lines;
}

/** Reports a layer that started or stopped failing. Numbers cover warnings. */
function verdictLines({ verdict }: QueryDiff, layer: 'path' | 'cost'): string[] {
  const { before, after } = verdict.layers[layer];
  const isTold =
    before !== after && [before, after].some((status) => status === 'fail' || status === 'error');
  return isTold ? [`   Verdict:           ${word(before)} → ${word(after)}`] : [];
}

const word = (status: CheckStatus | null): string =>
  status === null ? 'none' : status.toUpperCase();

function correctnessLine({ correctness: { before, after, changed } }: QueryDiff): string {
  if (before === null || after === null)
    return '➖ Correctness: not judged (no spec has this query)';
  return `${ICONS[after]} Correctness: ${changed ? 'Changed' : 'Unchanged'} (${word(before)} → ${word(after)})`;
}

function pathDetails({ path, diff_types }: QueryDiff): string[] {
  const lines: string[] = [];
  if (diff_types.includes('tools_changed') || diff_types.includes('sequence_changed'))
    lines.push(`   Tools (${path.similarity?.toFixed(2)} alike):`, ...editLines(path.tools));
  if (diff_types.includes('routing_changed')) lines.push('   Routing:', ...editLines(path.routes));
  if (path.arguments.length > 0) {
    lines.push('   Arguments:');
    for (const change of path.arguments.slice(0, MAX_LINES)) {
      lines.push(
        `     ${change.tool} #${change.before_call} ${change.path}: ${short(change.before)} → ${short(change.after)}`,
      );
    }
    if (path.arguments.length > MAX_LINES)
      lines.push(`     … ${path.arguments.length - MAX_LINES} more`);
  }
  return lines;
}

function editLines(edits: QueryDiff['path']['tools']): string[] {
  const lines = counted(edits).map(
    ({ op, text, times }) => `     ${SIGNS[op]} ${text}${times > 1 ? ` ×${times}` : ''}`,
  );
  return lines.length > MAX_LINES
    ? [...lines.slice(0, MAX_LINES), `     … ${lines.length - MAX_LINES} more`]
    : lines;
}

function footer({
  summary,
  headline,
  only_before,
  only_after,
  notices,
  from_version,
  to_version,
}: DiffReport): string[] {
  const lines: string[] = [headline];
  if (only_before.length > 0) lines.push(`only in ${from_version}: ${only_before.join(', ')}`);
  if (only_after.length > 0) lines.push(`only in ${to_version}: ${only_after.join(', ')}`);
  for (const notice of notices) lines.push(`note: ${notice}`);
  const { compared, changed, regressions, exit_code } = summary;
  lines.push(
    `${plural(compared, 'query', 'queries')} compared, ${changed} changed, ${plural(regressions, 'regression')} (exit ${exit_code})`,
  );
  return lines;
}

/** Two runs compared, for people. */
export function renderComparisonConsole(comparison: RunComparison): string {
  const lines: (string | null)[] = [
    `AgentCI Compare: ${comparison.agent} (${comparison.before} → ${comparison.after})`,
    null,
    '',
  ];
  const width = Math.max(0, ...comparison.metrics.map(({ metric }) => metric.length)) + 1;
  for (const metric of comparison.metrics) {
    lines.push(`${`${metric.metric}:`.padEnd(width)}  ${comparisonText(metric)}`);
  }
  if (comparison.flips.length > 0) {
    lines.push('', 'Verdicts that changed:');
    for (const { id, before, after } of comparison.flips.slice(0, MAX_LINES))
      lines.push(`   ${id}: ${before} → ${after}`);
    if (comparison.flips.length > MAX_LINES)
      lines.push(`   … ${comparison.flips.length - MAX_LINES} more`);
  }
  lines.push('');
  const { only_before, only_after, undecided, summary } = comparison;
  const within = comparison.metrics.filter(
    ({ verdict }) => verdict === 'worse_within_limit',
  ).length;
  const notes = [
    comparison.headline,
    only_before.length > 0 ? `only in ${comparison.before}: ${only_before.join(', ')}` : '',
    only_after.length > 0 ? `only in ${comparison.after}: ${only_after.join(', ')}` : '',
    undecided.length > 0 ? `${NOT_COUNTED.toLowerCase()}: ${undecided.join(', ')}` : '',
    `${plural(summary.pairs, 'query', 'queries')} in both, ${plural(summary.regressions, 'regression')}; of the metrics ${summary.worse} worse, ${within > 0 ? `${within} worse within the limit, ` : ''}${summary.better} better, ${summary.inconclusive} inconclusive (exit ${summary.exit_code})`,
  ].filter(Boolean);
  return `${box(lines)}\n${notes.map(escapeTerminalLine).join('\n')}\n`;
}
