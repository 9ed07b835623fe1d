import {
  escapeTerminalLine,
  escapeWorkflowCommandData,
  escapeWorkflowCommandProperty,
} from '@agentci/lib/text';
import type { DiffReport, RunComparison } from '@agentci/results';
import { comparisonText } from './words.ts';

type Level = 'error' | 'warning' | 'notice';

/**
 * Annotations: an error for each regression at the line of its query, and one line for other
 * changes.
 */
export function renderDiffGithub(report: DiffReport, publicPath: (file: string) => string): string {
  const lines: string[] = [];
  const versions = `${report.from_version} → ${report.to_version}`;
  for (const query of report.queries) {
    const { location } = query;
    const place = location
      ? [
          `file=${escapeWorkflowCommandProperty(publicPath(location.file))}`,
          `line=${location.line}`,
          `col=${location.column}`,
        ]
      : [];
    for (const { message, metric } of query.regressions) {
      lines.push(
        command(
          'error',
          [...place, title(`regression: ${metric}`)],
          `${query.id} (${versions}): ${message}`,
        ),
      );
    }
    if (query.diff_types.length > 0 && !query.has_regression) {
      lines.push(
        command(
          'notice',
          [...place, title('diff')],
          `${query.id} (${versions}): ${query.diff_types.join(', ')}`,
        ),
      );
    }
  }
  for (const id of report.only_before) {
    lines.push(
      command(
        'warning',
        [title('diff')],
        `${id} is in ${report.from_version} but not in ${report.to_version}`,
      ),
    );
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** Annotations of a comparison of two runs. */
export function renderComparisonGithub(comparison: RunComparison): string {
  const told = comparison.metrics.filter(
    ({ verdict, reason }) => verdict !== 'no_difference' && reason !== 'identical',
  );
  const added = comparison.new_failing.map((id) =>
    command('error', [title('compare: verdict')], `${id}: new and failing`),
  );
  const flips = comparison.flips.map(({ id, before, after }) =>
    command(
      after === 'fail' ? 'error' : 'notice',
      [title('compare: verdict')],
      `${id}: ${before} → ${after}`,
    ),
  );
  const metrics = told.map((metric) => {
    let level: Level;
    if (metric.verdict === 'worse') level = 'error';
    else if (metric.verdict === 'inconclusive') level = 'warning';
    else level = 'notice';
    return command(level, [title(`compare: ${metric.metric}`)], comparisonText(metric));
  });
  return [...added, ...flips, ...metrics].map((line) => `${line}\n`).join('');
}

const title = (text: string): string =>
  `title=${escapeWorkflowCommandProperty(escapeTerminalLine(text))}`;

const command = (level: Level, properties: readonly string[], message: string): string =>
  `::${level} ${properties.join(',')}::${escapeWorkflowCommandData(escapeTerminalLine(message))}`;
