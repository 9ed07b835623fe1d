import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { formatDiagnostic, UserError } from '@agentci/lib/problems';
import { escapeTerminal } from '@agentci/lib/text';
import type { CaseName } from '@agentci/results';
import { type JudgedRun, type RunOptions, type StoredRun, selectedQueries } from '@agentci/run';
import { loadSpec, type Query, type Suite } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import { withFolder } from '../cli/options.ts';
import { prepareNotify } from '../notify/prepare.ts';
import { type OutputPlan, planOutputs, suiteOutputs } from '../report/outputs.ts';
import { folderOf, judgeCacheOf, runsRoot, specPath } from '../stored-runs/spec-folders.ts';
import { cellsOf } from './cell-option.ts';
import { failedCases, failedCasesIn } from './failed-cases.ts';
import { repeatedCommand } from './repeated-command.ts';
import { casesOf, resumable, resumedOptions } from './resumed-options.ts';
import { runOptionsIn, type TestOptions } from './test-options.ts';

/** A validated run, ready to start. */
export interface PreparedTests {
  readonly suite: Suite;
  readonly options: TestOptions;
  readonly commandName: 'test' | 'eval';
  /** The spec as given by the user. */
  readonly file: string;
  readonly formats: readonly string[];
  readonly plans: readonly OutputPlan[];
  readonly notifyWith: Awaited<ReturnType<typeof prepareNotify>>;
  /** Folder of stored runs. */
  readonly root: string;
  /** The unfinished run to continue. */
  readonly previous: StoredRun | undefined;
  /** The cases to run. Absent for all that the options select. */
  readonly only: readonly CaseName[] | undefined;
  /** The stored run of the recordings, if known. */
  readonly judges?: JudgedRun;
}

/** The selected queries and their number of repeats. */
export interface Asked {
  readonly suite: Suite;
  readonly queries: readonly Query[];
  readonly runsOf: (query: Query) => number;
}

/** Reads the spec and the stored run to continue. Rejects invalid combinations. */
export async function prepareTests(
  given: TestOptions,
  io: Io,
  commandName: 'test' | 'eval',
): Promise<PreparedTests> {
  const formats =
    given.json && !given.dryRun ? [...(given.format ?? []), 'json'] : (given.format ?? []);
  const asked = planOutputs({ formats, files: given.output ?? [], env: io.env, cwd: io.cwd });
  const file = specPath(given.config, io.cwd);
  const { suite, diagnostics } = await loadSpec(file);
  if (!given.quiet)
    for (const warning of diagnostics)
      io.stderr.write(`${escapeTerminal(formatDiagnostic(warning))}\n`);
  const isAsked = formats.length > 0 || given.output !== undefined;
  const plans = isAsked ? asked : [...asked, ...suiteOutputs(suite, io)];
  const notifyWith = await prepareNotify(plans, given, io);
  const root = runsRoot(folderOf(suite, io));
  const previous = given.resume ? resumable(root, suite, given) : undefined;
  const options = previous ? resumedOptions(given, previous) : given;
  refuseUseless(options, io);
  const only = previous ? casesOf(previous) : failedOf(options, suite, root, io);
  return { suite, options, commandName, file, formats, plans, notifyWith, root, previous, only };
}

/** The failed cases of earlier runs, if only those are selected. */
function failedOf(
  { failed, failedFrom, strict }: TestOptions,
  suite: Suite,
  root: string,
  io: Io,
): readonly CaseName[] | undefined {
  if (failed) return failedCases(root, suite, { io, strict });
  return failedFrom === undefined
    ? undefined
    : failedCasesIn(resolve(io.cwd, failedFrom), suite, { strict });
}

/** The selection of a prepared run, used to find its recordings. */
export function askedOf({ options, suite, only }: PreparedTests, io: Io): Asked {
  const queries = selectedQueries({ ...runOptionsOf(options, suite, io), only });
  return { suite, queries, runsOf: (query) => options.runs ?? query.runs };
}

export const commandOf = ({ options, file, commandName }: PreparedTests, io: Io): string =>
  repeatedCommand({ ...options, file }, { commandName, env: io.env });

/** Rejects options that cannot have their intended effect, both new and stored ones. */
function refuseUseless(
  {
    failed,
    failedFrom,
    queue,
    queueRate,
    queueTimeout,
    shard,
    weights,
    traces,
    baselineDir,
  }: TestOptions,
  io: Io,
): void {
  if (failed && failedFrom !== undefined)
    throw new UserError('OPTIONS_CONFLICT', '--failed and --failed-from exclude each other', {
      hint: '--failed takes the last verdict on every query, --failed-from that of one run folder.',
    });
  if (queue === undefined && (queueRate !== undefined || queueTimeout !== undefined))
    throw new UserError('OPTIONS_CONFLICT', '--queue-rate and --queue-timeout need --queue');
  if (shard === undefined && weights !== undefined)
    throw new UserError(
      'OPTIONS_CONFLICT',
      '--weights needs --shard: nothing else is planned by it',
    );
  if (traces !== undefined && !existsSync(resolve(io.cwd, traces)))
    throw new UserError('TRACES_MISSING', `--traces: no file or folder "${traces}"`);
  // A missing folder would skip every comparison and look as if nothing got worse.
  if (baselineDir !== undefined && !isFolder(resolve(io.cwd, baselineDir))) {
    throw new UserError('FILE_MISSING', `--baseline-dir: no folder "${baselineDir}"`);
  }
}

/** The recordings to judge, if no agent runs. */
export function recordingsOf(options: TestOptions, suite: Suite, io: Io): string | undefined {
  if (options.traces !== undefined) return resolve(io.cwd, options.traces);
  return suite.runner?.kind === 'replay' ? resolve(suite.dir, suite.runner.replay) : undefined;
}

/** The options of a run from the command line and the program. */
export function runOptionsOf(options: TestOptions, suite: Suite, io: Io): RunOptions {
  const { baselineDir, judgeCacheDir, cassette, ...run } = runOptionsIn(options);
  return {
    // As given, because messages name the recordings like the user does.
    ...run,
    baselineDir: baselineDir === undefined ? undefined : resolve(io.cwd, baselineDir),
    cassette: cassette === undefined ? undefined : withFolder(cassette, io.cwd),
    judgeCacheDir: judgeCacheOf(folderOf(suite, io), judgeCacheDir, io),
    cells: cellsOf(suite, options.cell),
    suite,
    env: io.env,
    signal: io.signal,
    now: io.now,
    version: run.queue === undefined ? run.version : io.version,
  };
}

/** The input files of the run, which a report must not replace. */
export function inputsOf(
  { dir, runner }: Suite,
  file: string,
  recordings: string | undefined,
  io: Io,
): string[] {
  const inputs = [resolve(io.cwd, file)];
  if (recordings !== undefined) inputs.push(recordings);
  if (runner?.kind === 'module') inputs.push(resolve(io.cwd, dir, runner.module));
  return inputs;
}

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
