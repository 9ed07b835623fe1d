import { escapeTerminalLine } from '@agentci/lib/text';
import type { ExperimentResult } from '@agentci/results';
import { type Table, tablesOf } from './tables.ts';

/** Formats an experiment for a terminal: aligned tables of the headline metrics. */
export function renderConsole(result: ExperimentResult): string {
  const lines = [
    `Experiment ${escapeTerminalLine(result.experiment)} (seed ${result.seed}, profile ${result.profile})`,
    '',
  ];
  for (const table of tablesOf(result, 'short')) lines.push(...tableLines(table), '');
  for (const { condition, trial } of result.excluded)
    lines.push(`excluded: ${escapeTerminalLine(`${condition} ${trial}`)}`);
  if (result.interrupted) lines.push('note: the experiment was interrupted; trials are missing');
  for (const notice of result.notices) lines.push(`note: ${escapeTerminalLine(notice)}`);
  return `${lines.join('\n').trimEnd()}\n`;
}

/** A table as lines, with the first column left-aligned and numbers right-aligned. */
export function tableLines({ title, columns, rows, notes }: Table): string[] {
  const cells = [columns, ...rows].map((row) => row.map(escapeTerminalLine));
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => row[i]!.length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  ')
      .trimEnd();
  return [
    title,
    ...cells.map((row) => `  ${line(row)}`),
    ...notes.map((note) => `  ${escapeTerminalLine(note)}`),
  ];
}
