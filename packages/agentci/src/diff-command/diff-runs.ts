import { UserError } from '@agentci/lib/problems';
import {
  renderComparisonConsole,
  renderComparisonGithub,
  renderComparisonMarkdown,
} from '@agentci/reporters';
import type { RunComparison } from '@agentci/results';
import { readRun } from '@agentci/run';
import { compareRuns } from '@agentci/run/baseline';
import type { Io } from '../cli/io.ts';
import { specRuns, storedRunId } from '../stored-runs/stored-run.ts';
import { type DiffAnswer, type DiffFlags, withAnnotations } from './diff-baselines.ts';

/** Compares two stored runs. */
export function diffRuns(options: DiffFlags, io: Io): DiffAnswer {
  const comparison = compareStoredRuns(options, io);
  const format = options.json ? 'json' : options.format;
  const annotations = renderComparisonGithub(comparison);
  return {
    text: withAnnotations(comparisonText(comparison, format), { format, annotations, io }),
    code: comparison.summary.exit_code,
  };
}

function comparisonText(comparison: RunComparison, format: DiffFlags['format']): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(comparison, null, 2)}\n`;
    case 'markdown':
      return renderComparisonMarkdown(comparison);
    case 'github':
      return renderComparisonGithub(comparison);
    case 'console':
      return renderComparisonConsole(comparison);
  }
}

function compareStoredRuns(options: DiffFlags, io: Io): RunComparison {
  const { root, latest } = specRuns(options.config, io);
  if (options.baselineRun === undefined)
    throw new UserError(
      'NOTHING_FOUND',
      '--compare-run needs --baseline-run: the run to compare with',
    );
  const before = readRun(root, storedRunId(root, options.baselineRun, latest));
  const after = readRun(root, storedRunId(root, options.compareRun, latest));
  const comparison = compareRuns({
    before: onlyQuery(before, options.query),
    after: onlyQuery(after, options.query),
    maxDrop: options.maxDrop,
    maxRegressionPercent: options.maxRegression,
    seed: options.seed,
    strict: options.strict ? true : undefined,
  });
  if (comparison.summary.pairs === 0) {
    throw new UserError(
      'NOTHING_FOUND',
      `runs ${before.run_id} and ${after.run_id} have no query in common`,
    );
  }
  return comparison;
}

const onlyQuery = <T extends { results: { id: string; query: string }[] }>(
  run: T,
  name: string | undefined,
): T =>
  name === undefined
    ? run
    : { ...run, results: run.results.filter(({ id, query }) => id === name || query === name) };
