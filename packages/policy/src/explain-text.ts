import { present } from '@agentci/lib/data';
import {
  escapeHtml as escapeHtmlText,
  escapeMarkdownTableCell,
  escapeTerminalLine,
} from '@agentci/lib/text';
import type { ExplainedCall, ExplainReport } from '@agentci/results';

const MARKS: Record<ExplainedCall['verdict'], string> = {
  allowed: '✓',
  warned: '!',
  blocked: '✗',
  unknown: '?',
};
const MAX_ARGUMENTS = 80;

const argumentsText = (call: ExplainedCall): string => {
  const text = call.arguments === undefined ? '' : JSON.stringify(call.arguments);
  return text.length > MAX_ARGUMENTS ? `${text.slice(0, MAX_ARGUMENTS - 1)}…` : text;
};

const lineText = (
  report: ExplainReport,
  cause: { policy_line: number | null; policy_file?: string },
): string =>
  cause.policy_line === null ? '' : `${cause.policy_file ?? report.policy}:${cause.policy_line}`;

const countsText = ({
  allowed,
  warned,
  blocked,
  unknown,
  not_known,
  at_end,
  audit,
}: ExplainReport): string =>
  present([
    `${allowed} allowed`,
    warned > 0 ? `${warned} warned` : undefined,
    `${blocked} blocked`,
    unknown > 0 ? `${unknown} unknown` : undefined,
    at_end.length > 0 ? `${at_end.length} broken at the end` : undefined,
    not_known === undefined ? undefined : `could not tell: ${not_known}`,
    audit === undefined
      ? undefined
      : `${audit.reproduced} of ${audit.decisions} decisions reproduced`,
    audit === undefined || audit.not_told === 0 ? undefined : `${audit.not_told} without arguments`,
    audit === undefined || audit.differs.length === 0
      ? undefined
      : `${audit.differs.length} decided differently`,
  ]).join(', ');

/** Formats for a terminal. */
export function explainTerminal(reports: readonly ExplainReport[]): string {
  const lines: string[] = [];
  for (const report of reports) {
    lines.push(`${report.trace}${report.complete ? '' : ' (incomplete)'}: ${countsText(report)}`);
    const width = Math.max(...report.calls.map(({ tool }) => tool.length), 0);
    for (const call of report.calls) {
      lines.push(
        `  ${MARKS[call.verdict]} ${String(call.call).padStart(3)}  ${call.tool.padEnd(width)}  ${argumentsText(call)}`,
      );
      for (const cause of call.by)
        lines.push(`         ${cause.rule}: ${cause.reason}  ${lineText(report, cause)}`);
      if (call.recorded?.reproduced === false)
        lines.push(`         the guard had decided: ${call.recorded.verdict}`);
    }
    for (const cause of report.at_end)
      lines.push(`  ✗ end  ${cause.rule}: ${cause.reason}  ${lineText(report, cause)}`);
    lines.push('');
  }
  return lines.map((line) => `${escapeTerminalLine(line).trimEnd()}\n`).join('');
}

/** Formats for a pull request or a step summary. */
export function explainMarkdown(reports: readonly ExplainReport[]): string {
  return reports
    .map((report) => {
      const rows = report.calls.map((call) => {
        const why = call.by
          .map((cause) => `${cause.rule}: ${cause.reason} ${lineText(report, cause)}`)
          .join('; ');
        return [String(call.call), call.tool, argumentsText(call), call.verdict, why];
      });
      for (const cause of report.at_end)
        rows.push([
          'end',
          '',
          '',
          'broken',
          `${cause.rule}: ${cause.reason} ${lineText(report, cause)}`,
        ]);
      return [
        `### ${escapeMarkdownTableCell(report.trace)}`,
        '',
        `${countsText(report)}.`,
        '',
        '| call | tool | arguments | verdict | why |',
        '| --- | --- | --- | --- | --- |',
        ...rows.map((row) => `| ${row.map(escapeMarkdownTableCell).join(' | ')} |`),
        '',
      ].join('\n');
    })
    .join('\n');
}

/** Removes control characters, so that copied text cannot reach a terminal with them. */
const escapeHtml = (text: string): string => escapeHtmlText(escapeTerminalLine(text));

const STYLE =
  'body{font:14px system-ui,sans-serif;margin:2rem;color:#222}table{border-collapse:collapse;margin:0 0 2rem}' +
  'td,th{border:1px solid #ddd;padding:4px 10px;text-align:left;vertical-align:top}code{font-size:13px}' +
  '.blocked,.broken{background:#fdecea}.warned,.unknown{background:#fff8e1}.allowed{background:#f1f8f1}';

/** A single page without scripts or external resources. */
export function explainHtml(reports: readonly ExplainReport[]): string {
  const sections = reports.map((report) => {
    const rows = report.calls.map((call) => {
      const why = call.by.map(
        (c) =>
          `${escapeHtml(`${c.rule}: ${c.reason}`)} <small>${escapeHtml(lineText(report, c))}</small>`,
      );
      return `<tr class="${call.verdict}"><td>${call.call}</td><td><code>${escapeHtml(call.tool)}</code></td><td><code>${escapeHtml(argumentsText(call))}</code></td><td>${call.verdict}</td><td>${why.join('<br>')}</td></tr>`;
    });
    for (const cause of report.at_end)
      rows.push(
        `<tr class="broken"><td>end</td><td></td><td></td><td>broken</td><td>${escapeHtml(`${cause.rule}: ${cause.reason}`)} <small>${escapeHtml(lineText(report, cause))}</small></td></tr>`,
      );
    return `<h2>${escapeHtml(report.trace)}</h2>\n<p>${escapeHtml(countsText(report))}</p>\n<table>\n<tr><th>call</th><th>tool</th><th>arguments</th><th>verdict</th><th>why</th></tr>\n${rows.join('\n')}\n</table>`;
  });
  const title = `Policy ${reports[0]?.policy ?? ''}`;
  return `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>${escapeHtml(title)}</title>\n<style>${STYLE}</style>\n<h1>${escapeHtml(title)}</h1>\n${sections.join('\n')}\n</html>\n`;
}
