import { escapeMarkdownTableCell } from '@agentci/lib/text';
import type { ExperimentResult } from '@agentci/results';
import { tablesOf } from './tables.ts';

/** An experiment as Markdown tables, for a pull request or a step summary. */
export function renderMarkdown(result: ExperimentResult): string {
  const cell = escapeMarkdownTableCell;
  const lines = [
    `## Experiment: ${cell(result.experiment)}`,
    '',
    `Seed ${result.seed}, profile ${cell(result.profile)}.`,
    '',
  ];
  for (const { title, columns, rows, notes } of tablesOf(result, 'full')) {
    lines.push(`### ${title}`, '', `| ${columns.map(cell).join(' | ')} |`);
    lines.push(`| ${columns.map((_, i) => (i === 0 ? '---' : '---:')).join(' | ')} |`);
    for (const row of rows) lines.push(`| ${row.map(cell).join(' | ')} |`);
    lines.push('', ...notes.flatMap((note) => [cell(note), '']));
  }
  for (const { condition, trial } of result.excluded)
    lines.push(`- excluded: ${cell(`${condition} ${trial}`)}`);
  if (result.interrupted) lines.push('- the experiment was interrupted; trials are missing');
  for (const notice of result.notices) lines.push(`- ${cell(notice)}`);
  return `${lines.join('\n').trimEnd()}\n`;
}
