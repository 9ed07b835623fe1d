import { JUDGE_MODES } from '@agentci/judge';
import { OPERATORS } from '@agentci/lab/mutate';
import { Option } from 'commander';
import { type MutateFlags, mutateRecordings } from '../../mutate-command/mutate-recordings.ts';
import { DEFAULT_SPEC } from '../../stored-runs/spec-folders.ts';
import type { CliCommand } from '../cli-command.ts';
import {
  collect,
  collectList,
  fraction,
  positiveNumber,
  someText,
  wholeNumber,
} from '../options.ts';

const HELP = `
Each change makes one mutant: a call dropped, repeated or renamed, a wrong argument, a number changed, ten times the
cost. A change is noticed when a check has a worse verdict on the mutant than on the recording. No agent is run, and no
model is called unless --judge says so.

Changes: ${OPERATORS.map(({ name }) => name).join(', ')}

Examples:
  agentci mutate --run latest
  agentci mutate --traces traces/ --min-score 80% -o mutants.html

Exit codes: 0 done · 1 the score is below --min-score · 2 could not tell: there was nothing to break, or with
--min-score, a query has no good recording, wrong answers were left to rubrics without a verdict, or the budget left
changes untried and the interval of the score reaches below the bound`;

export const command: CliCommand = {
  name: 'mutate',
  summary: 'break good recordings to test the checks',
  configure: (parser) =>
    parser
      .option('-c, --config <file>', 'the spec', DEFAULT_SPEC)
      .option('--traces <path>', 'good recordings: a file or a folder')
      .option('--trace-format <format>', 'format of the recordings (default: detected)')
      .option(
        '--run <id>',
        'the recordings of a stored run; "latest" is the newest finished one of this spec',
      )
      .option(
        '-t, --tags <tags>',
        'only queries with one of these tags (repeat or separate with commas)',
        collectList,
      )
      .option(
        '--filter <text>',
        'only queries whose id or text contains this; * is a wildcard',
        someText,
      )
      .option(
        '--operators <names>',
        'only these kinds of change (repeat or separate with commas)',
        collectList,
      )
      .option('--seed <n>', 'seed of random choices (default: 0)', wholeNumber(0))
      .option(
        '--budget <n>',
        'at most this many changes in all (default: 50 for each recording)',
        wholeNumber(1),
      )
      .option(
        '--min-score <share>',
        'exit 1 when a smaller share of the changes is noticed: 0.8 or 80%',
        fraction,
      )
      .option('--baseline <version>', 'compare with this baseline version')
      .addOption(
        new Option(
          '--judge <mode>',
          'ask rubrics about changed answers too (default: off)',
        ).choices([...JUDGE_MODES]),
      )
      .option(
        '--judge-cache <dir>',
        'folder of stored verdicts (default: .agentci/judge-cache next to the spec)',
      )
      .option('--max-cost <usd>', 'ask no judge beyond this cost', positiveNumber)
      .option(
        '-o, --output <file>',
        'write the report to a file: .json, .md or .html (repeatable)',
        collect,
      )
      .option('--json', 'print the result as JSON')
      .addHelpText('after', HELP),
  run: ({ options, io }) => mutateRecordings(options as unknown as MutateFlags, io),
};
