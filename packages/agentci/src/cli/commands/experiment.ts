import { resolve } from 'node:path';
import type { ExperimentEvent } from '@agentci/lab/experiment';
import {
  loadExperiment,
  measureRatings,
  type RatingsOptions,
  renderAgreement,
  runExperiment,
} from '@agentci/lab/experiment';
import { present } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import type { AgreementResult, ExperimentResult } from '@agentci/results';
import { Option } from 'commander';
import {
  EXPERIMENT_FORMATS,
  planOutputs,
  writeOutputs,
} from '../../experiment-command/experiment-outputs.ts';
import { refuseInputs } from '../../report/outputs.ts';
import { specPath } from '../../stored-runs/spec-folders.ts';
import type { CliCommand, CommandInput } from '../cli-command.ts';
import type { Io } from '../io.ts';
import { collect, duration, fraction, wholeNumber } from '../options.ts';
import { type Progress, startProgress } from '../progress.ts';

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
  readonly level: NonNullable<RatingsOptions['level']>;
  readonly minAlpha?: number;
  readonly samples: number;
}

export const command: CliCommand = {
  name: 'experiment',
  summary: 'compare conditions over trials: decision quality, time, tests, effect sizes, plots',
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
        'trials made at a time; more than 1 disturbs measured times',
        wholeNumber(1),
        1,
      )
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
  return new UserError('UNKNOWN_ACTION', `experiment takes one file, or "agreement" and a file`, {
    hint: near === undefined ? undefined : `Did you mean "agreement"?`,
  });
}

function agreement(
  file: string | undefined,
  { flags, io }: { flags: ExperimentFlags; io: Io },
): number {
  if (file === undefined)
    throw new UserError('NO_RATINGS', 'agreement needs a CSV file of ratings', {
      hint: 'Its header: item,rater,validity,specificity,correctness',
    });
  const { level, minAlpha, samples, seed = 0, json = false } = flags;
  if (minAlpha !== undefined && level === 'all')
    throw new UserError('NO_LEVEL', '--min-alpha needs --level: one of the three α has to decide', {
      hint: 'for example: --level ordinal',
    });
  const result = measureRatings(file, { dir: io.cwd, level, samples, seed });
  io.stdout.write(json ? `${JSON.stringify(result, null, 2)}\n` : renderAgreement(result));
  return minAlpha === undefined ? 0 : agreementExit(result, minAlpha);
}

/** 1 below the bound, 2 where α is not defined. */
function agreementExit({ components }: AgreementResult, minAlpha: number): number {
  const alphas = components.flatMap(({ alpha }) =>
    alpha.length === 0 ? [null] : alpha.map((each) => each.alpha),
  );
  if (alphas.some((alpha) => alpha !== null && alpha < minAlpha)) return 1;
  return alphas.includes(null) ? 2 : 0;
}

async function experiment(
  given: string,
  { flags, io }: { flags: ExperimentFlags; io: Io },
): Promise<number> {
  const formats = present([...(flags.format ?? []), flags.json ? 'json' : undefined]);
  const outputs = planOutputs({ formats, files: flags.output ?? [] }, io.cwd);
  const { seed, trials } = flags;
  const plan = loadExperiment(specPath(given, io.cwd), {
    dir: io.cwd,
    overrides: { seed, trials },
  });
  refuseInputs(
    outputs.map(({ format, file }) => ({ reporter: format, file })),
    [
      plan.file,
      ...plan.conditions.flatMap(({ source }) => ('path' in source ? [source.path] : [])),
    ].map((path) => resolve(io.cwd, path)),
  );
  const result = await runExperiment(plan, {
    journalDir: io.cwd,
    resume: flags.resume === true,
    workers: flags.workers,
    retries: flags.retries,
    timeoutMs: flags.timeout,
    env: io.env,
    signal: io.signal,
    now: io.now,
    onEvent: tellProgress(io, { quiet: flags.quiet === true }),
  });
  writeOutputs(result, outputs, io);
  return exitOf(result, io);
}

/** Says which condition is run, and how far it is. */
function tellProgress(
  io: Io,
  options: { readonly quiet: boolean },
): (event: ExperimentEvent) => void {
  let progress: Progress | undefined;
  return (event) => {
    switch (event.type) {
      case 'condition_started': {
        const { condition, trials, madeBefore } = event;
        const kept = madeBefore === 0 ? '' : `, ${madeBefore} of them made before`;
        if (!options.quiet) io.stderr.write(`agentci: ${condition}: ${trials} trials${kept}\n`);
        progress = startProgress(io, options);
        break;
      }
      case 'trial':
        progress?.event(event.event);
        break;
      case 'condition_ended':
        progress?.stop();
        break;
      default:
        throw new Error(`unhandled event: ${JSON.stringify(event satisfies never)}`);
    }
  };
}

function exitOf({ interrupted, sources, conditions }: ExperimentResult, io: Io): number {
  if (interrupted) {
    io.stderr.write('agentci: interrupted; continue with --resume\n');
    return EXIT_INTERRUPTED;
  }
  const empty = sources.filter(
    ({ condition }) => !conditions.some((each) => each.condition === condition && each.n > 0),
  );
  for (const { condition } of empty)
    io.stderr.write(`agentci: ${condition} has no trial that could be measured\n`);
  return empty.length > 0 ? 2 : 0;
}
