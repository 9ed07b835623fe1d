import { UserError } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import { Option } from 'commander';
import { agreement } from '../../experiment-command/agreement.ts';
import { EXPERIMENT_FORMATS } from '../../experiment-command/experiment-outputs.ts';
import { type ExperimentFlags, experiment } from '../../experiment-command/experiment-run.ts';
import type { CliCommand, CommandInput } from '../cli-command.ts';
import { collect, duration, fraction, wholeNumber } from '../options.ts';

export const command: CliCommand = {
  name: 'experiment',
  summary: 'compare conditions over repeated trials',
  configure: (parser) => {
    parser
      .argument('<file>', 'the experiment (YAML), or the word "agreement"')
      .argument(
        '[ratings]',
        'agreement: a CSV file with the columns item, rater and one for each component',
      )
      .option(
        '-f, --format <name[=file]>',
        `${EXPERIMENT_FORMATS} (repeatable; default: console)`,
        collect,
      )
      .option(
        '-o, --output <file>',
        'write a report, format by ending: .json, .csv, .md, .html, .svg, .tex, or trials.csv (repeatable)',
        collect,
      )
      .option('--json', 'the same as -f json')
      .option(
        '--seed <n>',
        "seed of simulations and resamples, instead of the file's",
        wholeNumber(0),
      )
      .option(
        '-n, --trials <n>',
        'trials of every condition that is run or simulated',
        wholeNumber(1),
      )
      .option(
        '-w, --workers <n>',
        'concurrent trials (more than 1 distorts measured times)',
        wholeNumber(1),
        1,
      )
      .option('--retries <n>', 'retries after an infrastructure error', wholeNumber(0))
      .option('--timeout <time>', 'time one trial may take, such as 30s', duration)
      .option('--resume', 'resume a stopped experiment and repeat failed trials')
      .option('--quiet', 'no progress')
      .addOption(
        new Option('--level <level>', "agreement: which of Krippendorff's α")
          .choices(['nominal', 'ordinal', 'interval', 'all'])
          .default('all'),
      )
      .option('--min-alpha <a>', 'agreement: exit 1 when any α is below this', fraction)
      .option('--samples <n>', 'agreement: resamples of the interval', wholeNumber(100), 1000)
      .addHelpText(
        'after',
        `
Exit: 0 every condition has trials, 2 one has none or a file is wrong, 130 interrupted.
An agreement below --min-alpha exits 1.

Examples:
  agentci experiment experiment.yaml -o report.html
  agentci experiment experiment.yaml -o figure.svg -o table.tex -o trials.csv
  agentci experiment experiment.yaml --resume
  agentci experiment agreement ratings.csv --level ordinal --min-alpha 0.7`,
      );
  },
  run: async ({ args, options, io }: CommandInput) => {
    const flags = options as unknown as ExperimentFlags;
    const [first = '', second] = args;
    if (first === 'agreement') return agreement(second, { flags, io });
    if (second !== undefined) throw unknownAction(first);
    return experiment(first, { flags, io });
  },
};

function unknownAction(word: string): UserError {
  const near = didYouMean(word, ['agreement']);
  return new UserError('OPTION_INVALID', `experiment takes one file, or "agreement" and a file`, {
    hint: near === undefined ? undefined : `Did you mean "agreement"?`,
  });
}
