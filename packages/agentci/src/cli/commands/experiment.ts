import { Option } from 'commander';
import { didYouMean } from '../../kit/did-you-mean.ts';
import { UserError } from '../../kit/user-error.ts';
import type { ExperimentResult } from '../../results/experiment-result.ts';
import type { CliCommand, CommandInput } from '../cli-command.ts';
import { type AgreementFlags, runAgreement } from '../experiment/agreement.ts';
import { loadExperiment } from '../experiment/load-experiment.ts';
import { EXPERIMENT_FORMATS, planOutputs, writeOutputs } from '../experiment/outputs.ts';
import { readText } from '../experiment/read-text.ts';
import { runExperiment } from '../experiment/run-experiment.ts';
import type { Io } from '../io.ts';
import { collect, duration, fraction, wholeNumber } from '../options.ts';
import { specPath } from '../spec-path.ts';

const EXIT_INTERRUPTED = 130;

interface ExperimentFlags {
  readonly format?: readonly string[];
  readonly output?: readonly string[];
  readonly json?: boolean;
  readonly seed?: number;
  readonly trials?: number;
  readonly workers: number;
  readonly retries?: number;
  readonly timeout?: number;
  readonly resume?: boolean;
  readonly quiet?: boolean;
  readonly level: AgreementFlags['level'];
  readonly minAlpha?: number;
  readonly samples: number;
}

export const command: CliCommand = {
  name: 'experiment',
  summary: 'compare conditions over trials: decision quality, time, tests, effect sizes, plots',
  configure: (parser) => {
    parser
      .argument('<file>', 'the experiment (YAML), or the word "agreement"')
      .argument('[ratings]', 'agreement: a CSV file with the columns item, rater and one for each component')
      .option('-f, --format <name[=file]>', `${EXPERIMENT_FORMATS} (repeatable; default: console)`, collect)
      .option('-o, --output <file>', 'write a report, format by ending: .json, .csv, .md, .html (repeatable)', collect)
      .option('--json', 'the same as -f json')
      .option('--seed <n>', "seed of simulations and resamples, instead of the file's", wholeNumber(0))
      .option('-n, --trials <n>', 'trials of every condition that is run or simulated', wholeNumber(1))
      .option('-w, --workers <n>', 'trials made at a time; more than 1 disturbs measured times', wholeNumber(1), 1)
      .option('--retries <n>', 'retries after an infrastructure error', wholeNumber(0))
      .option('--timeout <time>', 'time one trial may take, such as 30s', duration)
      .option('--resume', 'resume an experiment that was stopped; failed trials are repeated')
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
  return new UserError('UNKNOWN_ACTION', `experiment takes one file, or "agreement" and a file`, {
    ...(near === undefined ? {} : { hint: `Did you mean "agreement"?` }),
  });
}

function agreement(file: string | undefined, { flags, io }: { flags: ExperimentFlags; io: Io }): number {
  if (file === undefined)
    throw new UserError('NO_RATINGS', 'agreement needs a CSV file of ratings', {
      hint: 'Its header: item,rater,validity,specificity,correctness',
    });
  const { level, minAlpha, samples, seed = 0, json = false } = flags;
  return runAgreement(file, {
    io,
    flags: { level, samples, seed, json, ...(minAlpha === undefined ? {} : { minAlpha }) },
  });
}

async function experiment(given: string, { flags, io }: { flags: ExperimentFlags; io: Io }): Promise<number> {
  const formats = [...(flags.format ?? []), ...(flags.json ? ['json'] : [])];
  const outputs = planOutputs({ formats, files: flags.output ?? [] }, io.cwd);
  const file = specPath(given, io.cwd);
  const { seed, trials } = flags;
  const plan = loadExperiment(readText(file, { dir: io.cwd, what: 'experiment' }), {
    file,
    overrides: { ...(seed === undefined ? {} : { seed }), ...(trials === undefined ? {} : { trials }) },
  });
  const result = await runExperiment(plan, {
    io,
    resume: flags.resume === true,
    options: {
      workers: flags.workers,
      quiet: flags.quiet === true,
      ...(flags.retries === undefined ? {} : { retries: flags.retries }),
      ...(flags.timeout === undefined ? {} : { timeoutMs: flags.timeout }),
    },
  });
  writeOutputs(result, outputs, io);
  return exitOf(result, io);
}

function exitOf({ interrupted, sources, conditions }: ExperimentResult, io: Io): number {
  if (interrupted) {
    io.stderr.write('agentci: interrupted; continue with --resume\n');
    return EXIT_INTERRUPTED;
  }
  const empty = sources.filter(
    ({ condition }) => !conditions.some((each) => each.condition === condition && each.n > 0),
  );
  for (const { condition } of empty) io.stderr.write(`agentci: ${condition} has no trial that could be measured\n`);
  return empty.length > 0 ? 2 : 0;
}
