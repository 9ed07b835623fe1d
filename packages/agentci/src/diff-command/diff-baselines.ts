import type { JudgeMode } from '@agentci/judge';
import { UserError } from '@agentci/lib/problems';
import { renderDiffConsole, renderDiffGithub, renderDiffMarkdown } from '@agentci/reporters';
import type { DiffReport } from '@agentci/results';
import { diffVersions } from '@agentci/run';
import { baselinePlaceToRead, type PlaceOptions } from '../baseline-command/baseline-place.ts';
import type { Io } from '../cli/io.ts';
import { publicPath } from '../report/write-reports.ts';
import { folderOf, judgeCacheOf } from '../stored-runs/spec-folders.ts';

export const FORMATS = ['console', 'json', 'github', 'markdown'] as const;

export interface DiffFlags extends PlaceOptions {
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

/** Compares two baseline versions. */
export async function diffBaselines(options: DiffFlags, io: Io): Promise<DiffAnswer> {
  const { baseline, compare } = options;
  if (baseline === undefined || compare === undefined) {
    throw new UserError('NOTHING_FOUND', 'two versions are needed: --baseline V1 --compare V2', {
      hint: '"agentci baselines" lists what there is; --baseline-run and --compare-run compare runs.',
    });
  }
  const { suite, dir } = await baselinePlaceToRead(options, io);
  const agent = options.agent ?? suite?.agent;
  if (agent === undefined)
    throw new UserError('OPTION_INVALID', 'no spec here that names the agent', {
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
  const format = options.json ? 'json' : options.format;
  return {
    text: withAnnotations(diffText(report, format, annotations), { format, annotations, io }),
    code: report.summary.exit_code,
  };
}

export interface DiffAnswer {
  readonly text: string;
  readonly code: number;
}

/** Adds annotations on GitHub, unless the output is a complete document. */
export const withAnnotations = (
  text: string,
  { format, annotations, io }: { format: DiffFlags['format']; annotations: string; io: Io },
): string =>
  io.env.GITHUB_ACTIONS === 'true' && format === 'console' ? `${text}${annotations}` : text;

function diffText(report: DiffReport, format: DiffFlags['format'], annotations: string): string {
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
