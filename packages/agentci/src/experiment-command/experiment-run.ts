import { resolve } from 'node:path';
import {
  type ExperimentEvent,
  loadExperiment,
  type RatingsOptions,
  runExperiment,
} from '@agentci/lab/experiment';
import { present } from '@agentci/lib/data';
import type { ExperimentResult } from '@agentci/results';
import type { Io } from '../cli/io.ts';
import { type Progress, startProgress } from '../cli/progress.ts';
import { refuseInputs } from '../report/outputs.ts';
import { specPath } from '../stored-runs/spec-folders.ts';
import { planOutputs, writeOutputs } from './experiment-outputs.ts';

const EXIT_INTERRUPTED = 130;

export interface ExperimentFlags {
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

export async function experiment(
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

/** Reports the running condition and its progress. */
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
    io.stderr.write('agentci: interrupted, continue with --resume\n');
    return EXIT_INTERRUPTED;
  }
  const empty = sources.filter(
    ({ condition }) => !conditions.some((each) => each.condition === condition && each.n > 0),
  );
  for (const { condition } of empty)
    io.stderr.write(`agentci: ${condition} has no trial that could be measured\n`);
  return empty.length > 0 ? 2 : 0;
}
