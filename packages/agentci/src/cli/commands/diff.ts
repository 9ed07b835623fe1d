import { JUDGE_MODES } from '@agentci/judge';
import { Option } from 'commander';
import { type DiffFlags, diffBaselines, FORMATS } from '../../diff-command/diff-baselines.ts';
import { diffRuns } from '../../diff-command/diff-runs.ts';
import type { CliCommand } from '../cli-command.ts';
import { drops, percent, wholeNumber } from '../options.ts';

export const command: CliCommand = {
  name: 'diff',
  summary: 'compare two baseline versions or two runs',
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
      .option('--baseline-dir <dir>', "folder of the baselines (default: the spec's baseline_dir)")
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
        'folder of stored verdicts (default: .agentci/judge-cache next to the spec)',
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
    const options = given as unknown as DiffFlags;
    const { text, code } =
      options.baselineRun !== undefined || options.compareRun !== undefined
        ? diffRuns(options, io)
        : await diffBaselines(options, io);
    io.stdout.write(text);
    return code;
  },
};
