import { JUDGE_MODES, type JudgeMode } from '@agentci/judge';
import { UserError } from '@agentci/lib/problems';
import {
  renderComparisonConsole,
  renderComparisonGithub,
  renderComparisonMarkdown,
  renderDiffConsole,
  renderDiffGithub,
  renderDiffMarkdown,
} from '@agentci/reporters';
import type { DiffReport, RunComparison } from '@agentci/results';
import { diffVersions, readRun } from '@agentci/run';
import { compareRuns } from '@agentci/run/baseline';
import { InvalidArgumentError, Option } from 'commander';
import { baselinePlaceToRead, type PlaceOptions } from '../../baseline-command/baseline-place.ts';
import { publicPath } from '../../report/write-reports.ts';
import { folderOf, judgeCacheOf } from '../../stored-runs/spec-folders.ts';
import { specRuns, storedRunId } from '../../stored-runs/stored-run.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Io } from '../io.ts';
import { wholeNumber } from '../options.ts';

const FORMATS = ['console', 'json', 'github', 'markdown'] as const;

interface Options extends PlaceOptions {
  readonly baseline?: string;
  readonly compare?: string;
  readonly baselineRun?: string;
  readonly compareRun?: string;
  readonly query?: string;
  readonly judge: JudgeMode;
  readonly judgeCache?: string;
  readonly format: (typeof FORMATS)[number];
  readonly json?: boolean;
  readonly maxRegression?: number;
  readonly maxDrop?: Readonly<Record<string, number>>;
  readonly seed?: number;
  readonly strict?: boolean;
}

export const command: CliCommand = {
  name: 'diff',
  summary: 'compare two baseline versions, or two runs: better, worse, or noise?',
  configure: (parser) => {
    parser
      .option('--baseline <version>', 'the version before')
      .option('--compare <version>', 'the version after')
      .option(
        '--baseline-run <id>',
        'instead: the stored run before; "latest" is the newest of the spec',
      )
      .option('--compare-run <id>', 'and the stored run after (default: latest)')
      .option(
        '-c, --config <file>',
        'the spec both sides are judged by (default: agentci_spec.yaml, when there is one)',
      )
      .option('--agent <name>', "the agent (default: the spec's)")
      .option('--query <id or text>', 'only this query')
      .option('--baseline-dir <dir>', "where baselines are, instead of the spec's baseline_dir")
      .addOption(
        new Option(
          '--judge <mode>',
          'rubrics: call the judge, use stored verdicts only, or leave them out',
        )
          .choices([...JUDGE_MODES])
          .default('off'),
      )
      .option(
        '--judge-cache <dir>',
        'where verdicts are stored (default: .agentci/judge-cache beside the spec)',
      )
      .addOption(
        new Option('-f, --format <name>', 'the report').choices([...FORMATS]).default('console'),
      )
      .option('--json', 'the same as --format json')
      .option(
        '--max-regression <percent>',
        'growth of cost, tokens, latency or tool calls above this is a regression',
        percent,
      )
      .option(
        '--max-drop <metric=amount>',
        'for runs: the most a metric may lose, e.g. pass_rate=0.05 (repeatable)',
        drops,
      )
      .option('--seed <n>', 'for runs: seed of the permutation test (default: 0)', wholeNumber(0))
      .option('--strict', 'for runs: inconclusive exits 2')
      .addHelpText(
        'after',
        `
Examples:
  agentci diff --baseline v1-broken --compare v2-fixed
  agentci diff --baseline v1 --compare v2 --max-regression 20 --format markdown
  agentci diff --baseline-run 20261114-090000000-1a2b --compare-run latest

Exit codes: 0 no regression · 1 a regression · 2 nothing to compare, or it could not be judged`,
      );
  },
  run: async ({ options: given, io }) => {
    const options = given as unknown as Options;
    const format = options.json ? 'json' : options.format;
    if (options.baselineRun !== undefined || options.compareRun !== undefined) {
      const comparison = compareStoredRuns(options, io);
      write(comparisonText(comparison, format), format, renderComparisonGithub(comparison), io);
      return comparison.summary.exit_code;
    }
    const { baseline, compare } = options;
    if (baseline === undefined || compare === undefined) {
      throw new UserError(
        'NOTHING_TO_COMPARE',
        'two versions are needed: --baseline V1 --compare V2',
        {
          hint: '"agentci baselines" lists what there is; --baseline-run and --compare-run compare runs.',
        },
      );
    }
    const { suite, dir } = await baselinePlaceToRead(options, io);
    const agent = options.agent ?? suite?.agent;
    if (agent === undefined)
      throw new UserError('AGENT_UNKNOWN', 'there is no spec here that names the agent', {
        hint: 'Name it with --agent, or the spec with -c.',
      });
    const report = await diffVersions({
      suite,
      agent,
      dir,
      baseline,
      compare,
      query: options.query,
      judge: options.judge,
      judgeCacheDir: suite ? judgeCacheOf(folderOf(suite, io), options.judgeCache, io) : undefined,
      env: io.env,
      signal: io.signal,
      maxRegressionPercent: options.maxRegression,
    });
    const annotations = renderDiffGithub(report, (file) => publicPath(file, io));
    write(diffText(report, format, annotations), format, annotations, io);
    return report.summary.exit_code;
  },
};

/** On GitHub annotations come along, unless the output is a document of its own. */
function write(text: string, format: Options['format'], annotations: string, io: Io): void {
  io.stdout.write(text);
  if (io.env.GITHUB_ACTIONS === 'true' && format === 'console') io.stdout.write(annotations);
}

function diffText(report: DiffReport, format: Options['format'], annotations: string): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(report, null, 2)}\n`;
    case 'markdown':
      return renderDiffMarkdown(report);
    case 'github':
      return annotations;
    case 'console':
      return renderDiffConsole(report);
  }
}

function comparisonText(comparison: RunComparison, format: Options['format']): string {
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

function compareStoredRuns(options: Options, io: Io): RunComparison {
  const { root, latest } = specRuns(options.config, io);
  if (options.baselineRun === undefined)
    throw new UserError(
      'NOTHING_TO_COMPARE',
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
      'NOTHING_TO_COMPARE',
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

function percent(text: string): number {
  const value = Number(text.trim().replace(/%$/, ''));
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('it must be a percentage of at least 0.');
  return value;
}

function drops(
  text: string,
  previous: Readonly<Record<string, number>> = {},
): Record<string, number> {
  const match = /^([\w.-]+)=(.+)$/.exec(text.trim());
  const value = Number(match?.[2]);
  if (!match || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('write it as pass_rate=0.05.');
  return { ...previous, [match[1]!]: value };
}
