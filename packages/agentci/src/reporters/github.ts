import type { Location } from '../kit/diagnostic.ts';
import {
  escapeMarkdownTableCell,
  escapeTerminalLine,
  escapeWorkflowCommandData,
  escapeWorkflowCommandProperty,
} from '../kit/escape.ts';
import { LAYERS, type QueryResult, type RunResult } from '../results/run-result.ts';
import type { Reporter } from './reporter.ts';

/** GitHub shows at most ten warnings a step; the rest would vanish, so they go into the step summary. */
const MAX_INLINE_WARNINGS = 10;
const QUERY_CHARACTERS = 60;

interface Annotation {
  readonly level: 'error' | 'warning';
  readonly title: string;
  readonly message: string;
  readonly location: Location | undefined;
}

export const reporter: Reporter = {
  name: 'github',
  summary: 'annotations on the lines of the spec, for GitHub Actions',
  extensions: [],
  machineReadable: false,
  render: (run, { hasStepSummary, publicPath }) => {
    const annotations = annotationsOf(run);
    const errors = annotations.filter(({ level }) => level === 'error');
    const warnings = annotations.filter(({ level }) => level === 'warning');
    const overflow = warnings.slice(MAX_INLINE_WARNINGS);
    const lines = [...errors, ...warnings.slice(0, MAX_INLINE_WARNINGS)].map((annotation) =>
      command(annotation, publicPath),
    );
    if (overflow.length > 0 && !hasStepSummary)
      lines.push(`${overflow.length} more warnings are not shown as annotations`);
    return {
      text: lines.map((line) => `${line}\n`).join(''),
      ...(overflow.length > 0 && hasStepSummary ? { stepSummary: summaryTable(overflow, publicPath) } : {}),
    };
  },
};

function annotationsOf(run: RunResult): Annotation[] {
  const annotations: Annotation[] = [];
  for (const check of run.checks) {
    if (check.status !== 'error' && check.status !== 'fail' && check.status !== 'warn') continue;
    annotations.push({
      level: check.status === 'warn' ? 'warning' : 'error',
      title: check.id,
      message: check.message,
      location: check.location,
    });
  }
  for (const result of run.results) annotations.push(...annotationsOfQuery(result));
  return annotations;
}

function* annotationsOfQuery(result: QueryResult): Generator<Annotation> {
  const query =
    result.query.length > QUERY_CHARACTERS ? `${result.query.slice(0, QUERY_CHARACTERS - 1)}…` : result.query;
  if (result.error) {
    yield {
      level: 'error',
      title: result.id,
      message: `[ERROR] ${query}: ${result.error.message}`,
      location: result.location,
    };
  }
  // Expected failures and failures within min_pass_rate do not fail the run, so they must not look as if they did.
  const blocking = result.status === 'fail' || result.status === 'error';
  for (const layer of LAYERS) {
    for (const check of result[layer].checks) {
      if (check.status !== 'fail' && check.status !== 'error' && check.status !== 'warn') continue;
      if (!blocking && result.xfail) continue;
      yield {
        level: blocking && check.status !== 'warn' ? 'error' : 'warning',
        title: check.id,
        message: `[${layer.toUpperCase()}] ${query}: ${check.message}`,
        location: check.location ?? result.location,
      };
    }
  }
}

/** Every part is escaped, so that a model's answer cannot end the line and forge a command of its own. */
function command({ level, title, message, location }: Annotation, publicPath: (file: string) => string): string {
  const properties = location
    ? [
        `file=${escapeWorkflowCommandProperty(publicPath(location.file))}`,
        `line=${location.line}`,
        `col=${location.column}`,
      ]
    : [];
  properties.push(`title=${escapeWorkflowCommandProperty(title)}`);
  return `::${level} ${properties.join(',')}::${escapeWorkflowCommandData(escapeTerminalLine(message))}`;
}

function summaryTable(overflow: readonly Annotation[], publicPath: (file: string) => string): string {
  const rows = overflow.map(({ title, message, location }) => {
    const place = location ? `${publicPath(location.file)}:${location.line}` : '';
    return `| ${[title, message, place].map(escapeMarkdownTableCell).join(' | ')} |`;
  });
  return ['### AgentCI: further warnings', '', '| check | finding | where |', '| --- | --- | --- |', ...rows, ''].join(
    '\n',
  );
}
