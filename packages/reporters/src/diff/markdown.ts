import { escapeMarkdownTableCell, plural } from '@agentci/lib/text';
import type { DiffReport, MetricComparison, QueryDiff, RunComparison } from '@agentci/results';
import { NOT_COUNTED } from '@agentci/results';
import { answerLines, changeOf, comparisonText, counted, rowsOf, SIGNS, short } from './words.ts';

const ANSWER_CHARACTERS = 200;
const MAX_LINES = 30;
const cell = escapeMarkdownTableCell;

/** The diff as tables, for a pull-request comment or step summary. */
export function renderDiffMarkdown(report: DiffReport): string {
  const { summary } = report;
  const lines = [
    `## AgentCI diff: ${cell(report.agent)} (${cell(report.from_version)} → ${cell(report.to_version)})`,
    '',
    `${plural(summary.compared, 'query', 'queries')} compared, ${summary.changed} changed, **${plural(summary.regressions, 'regression')}**. ${cell(report.headline)}`,
    '',
  ];
  for (const query of report.queries) {
    if (query.layers.length === 0 && report.queries.length > 1) continue;
    lines.push(...queryLines(query));
  }
  if (report.comparison !== undefined && report.comparison.length > 0)
    lines.push(...comparisonTable(report.comparison), '');
  if (report.only_before.length > 0)
    lines.push(
      `Only in ${cell(report.from_version)}: ${report.only_before.map(cell).join(', ')}`,
      '',
    );
  if (report.only_after.length > 0)
    lines.push(`Only in ${cell(report.to_version)}: ${report.only_after.map(cell).join(', ')}`, '');
  for (const notice of report.notices) lines.push(`> ${cell(notice)}`, '');
  return `${lines.join('\n').trimEnd()}\n`;
}

function queryLines(query: QueryDiff): string[] {
  const { before, after } = query.correctness;
  const lines = [
    `### ${cell(query.id)}: ${cell(short(query.query, 120))}`,
    '',
    '| | before → after | change |',
    '| --- | --- | --- |',
    `| Correctness | ${before === null || after === null ? 'not judged' : `${before} → ${after}`} | ${query.correctness.changed ? 'changed' : 'unchanged'} |`,
  ];
  for (const row of rowsOf(query)) {
    const { values, note } = changeOf(row);
    lines.push(`| ${row.title} | ${cell(values)} | ${cell(note)} |`);
  }
  lines.push('');
  for (const regression of query.regressions) lines.push(`- ❌ ${cell(regression.message)}`);
  const edits = [...counted(query.path.tools), ...counted(query.path.routes)].filter(
    ({ op }) => op !== 'keep',
  );
  for (const { op, text, times } of edits.slice(0, MAX_LINES)) {
    lines.push(
      `- ${op === 'insert' ? 'added' : 'removed'}: ${cell(text)}${times > 1 ? ` ×${times}` : ''}`,
    );
  }
  for (const change of query.path.arguments.slice(0, MAX_LINES)) {
    lines.push(
      `- ${cell(change.tool)} call ${change.before_call}, ${cell(change.path)}: ${cell(short(change.before))} → ${cell(short(change.after))}`,
    );
  }
  if (query.correctness.answer.changed) {
    const answers = answerLines(query.correctness.answer.edits, ANSWER_CHARACTERS);
    lines.push(
      `- answer ${SIGNS.delete} ${cell(answers.before)}`,
      `- answer ${SIGNS.insert} ${cell(answers.after)}`,
    );
  }
  lines.push('');
  return lines;
}

const comparisonTable = (metrics: readonly MetricComparison[]): string[] => [
  '| metric | over all queries |',
  '| --- | --- |',
  ...metrics.map((metric) => `| ${cell(metric.metric)} | ${cell(comparisonText(metric))} |`),
];

/** Two runs compared, as a table. */
export function renderComparisonMarkdown(comparison: RunComparison): string {
  const lines = [
    `## AgentCI compare: ${cell(comparison.agent)} (${cell(comparison.before)} → ${cell(comparison.after)})`,
    '',
    `${plural(comparison.summary.pairs, 'query', 'queries')} in both, **${plural(comparison.summary.regressions, 'regression')}**. ${cell(comparison.headline)}`,
    '',
    ...comparisonTable(comparison.metrics),
    '',
  ];
  for (const { id, before, after } of comparison.flips)
    lines.push(`- ${cell(id)}: ${before} → ${after}`);
  if (comparison.flips.length > 0) lines.push('');
  for (const [what, ids] of [
    ['Only before', comparison.only_before],
    ['Only after', comparison.only_after],
    [NOT_COUNTED, comparison.undecided],
  ] as const) {
    if (ids.length > 0) lines.push(`${what}: ${ids.map(cell).join(', ')}`, '');
  }
  return `${lines.join('\n').trimEnd()}\n`;
}
