import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Judge, JudgeConfig } from '@agentci/judge';
import { auditJudge, createJudge, limitedBudget, RUBRICS } from '@agentci/judge';
import { UserError } from '@agentci/lib/problems';
import type { Suite } from '@agentci/spec';
import { loadSpec } from '@agentci/spec';
import { seededRandom } from '@agentci/stats';
import { Option } from 'commander';
import {
  type CalibrateFlags,
  calibrateLabels,
  printFindings,
} from '../../label/calibrate-labels.ts';
import { renderAudit } from '../../label/judge-report.ts';
import { DEFAULT_SPEC, folderOf, judgeCacheOf, specPath } from '../../stored-runs/spec-folders.ts';
import type { CliCommand, CommandInput } from '../cli-command.ts';
import type { Io } from '../io.ts';
import { fraction, positiveNumber, wholeNumber } from '../options.ts';

interface JudgeFlags extends CalibrateFlags {
  readonly config?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly repeats: number;
  readonly judge?: 'live' | 'recorded';
  readonly judgeCache?: string;
  readonly maxCost?: number;
}

export const command: CliCommand = {
  name: 'judge',
  summary: 'measure the judge itself: against human labels, against attacks',
  configure: (parser) => {
    parser
      .argument(
        '<what>',
        'calibrate: compare with human labels; audit: attacks, repeats, position and length bias',
      )
      .option(
        '-c, --config <file>',
        `the spec whose judge_config is used (default: ${DEFAULT_SPEC}, when there is one)`,
      )
      .option('--model <name>', "the judge's model, instead of the spec's")
      .option('--base-url <url>', 'where the model is served, instead of the spec')
      .option(
        '--labels <file>',
        'calibrate: JSON Lines of {"query", "answer", "label": "pass" or "fail"}, or a folder of such files',
      )
      .option(
        '--template <name>',
        `calibrate: the rubric to use: ${Object.keys(RUBRICS).join(', ')}`,
      )
      .option('--rule <text>', 'calibrate: the rubric to use, in words')
      .option(
        '--threshold <t>',
        "calibrate: lowest passing score between 0 and 1, instead of each label's own",
        fraction,
      )
      .option('--min-kappa <k>', 'calibrate: exit 1 when the agreement is below this', fraction)
      .option('--repeats <n>', 'audit: how often each probe is judged', wholeNumber(2), 3)
      .addOption(
        new Option('--judge <mode>', 'live, or recorded: stored verdicts only').choices([
          'live',
          'recorded',
        ]),
      )
      .option(
        '--judge-cache <dir>',
        'where verdicts are stored (default: .agentci/judge-cache beside the spec)',
      )
      .option('--max-cost <usd>', 'stop before the judge has cost more than this', positiveNumber)
      .option('--seed <n>', 'seed of the split into halves', wholeNumber(0), 0)
      .option('--json', 'print the findings as JSON')
      .addHelpText(
        'after',
        `
Exit: 0 good, 1 the agreement is too low or an attack succeeded, 2 could not tell.

Examples:
  agentci judge calibrate --labels labels.jsonl --template actionable_steps --min-kappa 0.6
  agentci judge audit --model anthropic:claude-sonnet-4-5-20250929`,
      );
  },
  run: async ({ args, options, io }: CommandInput) => {
    const flags = options as unknown as JudgeFlags;
    const [what] = args;
    if (what !== 'calibrate' && what !== 'audit')
      throw new UserError('UNKNOWN_ACTION', `"${what}" is not something judge does`, {
        hint: 'judge calibrate, or judge audit',
      });
    const suite = await suiteOf(flags, io);
    const config = configOf(suite, flags, io);
    const judge = createJudge(config);
    return what === 'audit'
      ? audit(judge, flags, io)
      : calibrateLabels({ judge, config, suite, flags, io });
  },
};

async function suiteOf({ config }: JudgeFlags, io: Io): Promise<Suite | undefined> {
  const wanted = config ?? (existsSync(join(io.cwd, DEFAULT_SPEC)) ? DEFAULT_SPEC : undefined);
  return wanted === undefined ? undefined : (await loadSpec(specPath(wanted, io.cwd))).suite;
}

function configOf(suite: Suite | undefined, flags: JudgeFlags, io: Io): JudgeConfig {
  const written = (suite?.judgeConfig ?? {}) as JudgeConfig;
  return {
    ...written,
    model: flags.model ?? written.model,
    base_url: flags.baseUrl ?? written.base_url,
    // A model that is named is measured by itself.
    ensemble: flags.model === undefined ? written.ensemble : undefined,
    mode: flags.judge ?? 'live',
    cacheDir: judgeCacheOf(suite ? folderOf(suite, io) : io.cwd, flags.judgeCache, io),
    env: io.env,
    signal: io.signal,
    random: seededRandom(flags.seed),
    budget: flags.maxCost === undefined ? written.budget : limitedBudget(flags.maxCost),
  };
}

async function audit(judge: Judge, flags: JudgeFlags, io: Io): Promise<number> {
  const report = await auditJudge(judge, { repeats: flags.repeats });
  const usage = judge.usage?.();
  printFindings(io, flags, { ...report, judge: usage }, renderAudit(report, usage));
  if (report.attacks.succeeded.length > 0) return 1;
  return report.errors > 0 || !report.controls.hold ? 2 : 0;
}
