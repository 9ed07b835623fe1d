import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import { readRun, tracesOf } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import { loadSpec } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import { tracesAt } from '../report/write-reports.ts';
import { DEFAULT_SPEC, specPath } from '../stored-runs/spec-folders.ts';
import { specRuns, storedRunId } from '../stored-runs/stored-run.ts';
import { LabelingSession } from './labeling-session.ts';
import { raterName } from './rater-name.ts';

/**
 * Prepares `agentci view --label`: the answers of a finished run, the rubrics of the spec, the
 * labels file.
 */
export async function openLabeling(
  {
    config,
    run: given,
    rater,
  }: { config: string | undefined; run: string | undefined; rater: string | undefined },
  io: Io,
): Promise<{ labels: LabelingSession; page: string }> {
  const { folder, root, latest } = specRuns(config, io);
  const run = readRun(root, storedRunId(root, given, latest));
  const labels = new LabelingSession({
    run,
    suite: await suiteOf(config, io),
    traces: tracesAt(() => tracesOf(root, run.run_id)).traces,
    folder: join(folder, 'labels'),
    rater: raterName(rater, folder),
    now: io.now,
  });
  if (labels.total === 0) {
    labels.close();
    throw new UserError('NOTHING_FOUND', `the run ${run.run_id} has no answers to label`, {
      hint: '--run names another one.',
    });
  }
  if (labels.cutOff > 0)
    io.stderr.write(
      `agentci: the last line of the labels file was cut off and never confirmed; its ${plural(labels.cutOff, 'byte')} are removed\n`,
    );
  const { LABEL_PAGE } = await import('./label-page.gen.ts');
  return { labels, page: LABEL_PAGE };
}

/** Without a spec, answers are labeled without rubrics. A broken spec is an error. */
async function suiteOf(config: string | undefined, io: Io): Promise<Suite | undefined> {
  if (config === undefined && !existsSync(join(io.cwd, DEFAULT_SPEC))) return undefined;
  return (await loadSpec(specPath(config ?? DEFAULT_SPEC, io.cwd))).suite;
}
