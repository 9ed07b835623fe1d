import { createJudge, RUBRICS } from '@agentci/judge';
import { UserError } from '@agentci/lib/problems';
import { Option } from 'commander';
import { calibrateLabels } from '../../label/calibrate-labels.ts';
import { audit, configOf, type JudgeFlags, suiteOf } from '../../label/judge-config.ts';
import { DEFAULT_SPEC } from '../../stored-runs/spec-folders.ts';
import type { CliCommand, CommandInput } from '../cli-command.ts';
import { fraction, positiveNumber, wholeNumber } from '../options.ts';

export const command: CliCommand = {
  name: 'judge',
  summary: 'measure the judge against labels and attacks',
  configure: (parser) => {
    parser
      .argument(
        '<what>',
        'calibrate: compare with human labels, audit: attacks, repeats, position and length bias',
      )
      .option(
        '-c, --config <file>',
        `the spec whose judge_config is used (default: ${DEFAULT_SPEC}, when there is one)`,
      )
      .option('--model <name>', "the judge's model, instead of the spec's")
      .option('--base-url <url>', 'address of the model (overrides the spec)')
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
        'folder of stored verdicts (default: .agentci/judge-cache next to the spec)',
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
      throw new UserError('OPTION_INVALID', `"${what}" is not something judge does`, {
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
