import {
  escapeMarkdownTableCell,
  escapeTerminalLine,
  escapeWorkflowCommandData,
  escapeWorkflowCommandProperty,
} from '@agentci/lib/text';
import { caseText, cellText } from '@agentci/results';
import { type Finding, findingsOf, QUERY_ERROR } from './findings.ts';
import { passHatLine } from './pass-hat-k.ts';
import type { Reporter } from './reporter.ts';

/** GitHub shows at most ten warnings per step, so the rest goes into the step summary. */
const MAX_INLINE_WARNINGS = 10;
const QUERY_CHARACTERS = 60;

export const reporter: Reporter = {
  name: 'github',
  summary: 'annotations on the lines of the spec, for GitHub Actions',
  extensions: [],
  machineReadable: false,
  render: (run, { hasStepSummary, publicPath }) => {
    const annotations = findingsOf(run);
    const errors = annotations.filter(({ level }) => level === 'error');
    const warnings = annotations.filter(({ level }) => level === 'warning');
    const overflow = warnings.slice(MAX_INLINE_WARNINGS);
    const lines = [...errors, ...warnings.slice(0, MAX_INLINE_WARNINGS)].map((annotation) =>
      command(annotation, publicPath),
    );
    if (run.summary.pass_hat_k !== undefined)
      lines.push(`::notice title=repeats::${escapeWorkflowCommandData(passHatLine(run.summary))}`);
    if (overflow.length > 0 && !hasStepSummary)
      lines.push(`${overflow.length} more warnings are not shown as annotations`);
    return {
      text: lines.map((line) => `${line}\n`).join(''),
      stepSummary:
        overflow.length > 0 && hasStepSummary ? summaryTable(overflow, publicPath) : undefined,
    };
  },
};

/** `[PATH] question: problem`, with a shortened question. */
function textOf({ checkId, layer, message, result }: Finding): string {
  if (!result) return message;
  const query =
    result.query.length > QUERY_CHARACTERS
      ? `${result.query.slice(0, QUERY_CHARACTERS - 1)}…`
      : result.query;
  const where = result.cell === undefined ? '' : ` (${cellText(result.cell)})`;
  return `[${checkId === QUERY_ERROR ? 'ERROR' : (layer ?? 'run').toUpperCase()}] ${query}${where}: ${message}`;
}

const titleOf = ({ checkId, result }: Finding): string =>
  checkId === QUERY_ERROR && result ? caseText(result) : checkId;

/** Every part is escaped, so that a model's answer cannot end the line and forge a command. */
function command(finding: Finding, publicPath: (file: string) => string): string {
  const { level, location } = finding;
  const properties = location
    ? [
        `file=${escapeWorkflowCommandProperty(publicPath(location.file))}`,
        `line=${location.line}`,
        `col=${location.column}`,
      ]
    : [];
  properties.push(`title=${escapeWorkflowCommandProperty(titleOf(finding))}`);
  return `::${level} ${properties.join(',')}::${escapeWorkflowCommandData(escapeTerminalLine(textOf(finding)))}`;
}

function summaryTable(overflow: readonly Finding[], publicPath: (file: string) => string): string {
  const rows = overflow.map((finding) => {
    const { location } = finding;
    const place = location ? `${publicPath(location.file)}:${location.line}` : '';
    return `| ${[titleOf(finding), textOf(finding), place].map(escapeMarkdownTableCell).join(' | ')} |`;
  });
  return [
    '### AgentCI: further warnings',
    '',
    '| check | finding | where |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
