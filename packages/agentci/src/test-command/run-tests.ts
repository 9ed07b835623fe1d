import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { formatDiagnostic, UserError } from '@agentci/lib/problems';
import { escapeTerminal } from '@agentci/lib/text';
import type { CaseName, RunResult } from '@agentci/results';
import type { JudgedRun, RunOptions, RunSink } from '@agentci/run';
import {
  isDamage,
  isPart,
  listRuns,
  queriesOfShard,
  readRun,
  runSuite,
  runWithTraces,
  type ShardPlan,
  type StoredRun,
  selectedQueries,
  tracesOf,
} from '@agentci/run';
import type { Query, Suite } from '@agentci/spec';
import { loadSpec } from '@agentci/spec';
import { type GitState, gitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';
import { withFolder } from '../cli/options.ts';
import { startProgress } from '../cli/progress.ts';
import { prepareNotify } from '../notify/prepare.ts';
import { comparedWithBase } from '../report/base-run.ts';
import { type OutputPlan, planOutputs, refuseInputs, suiteOutputs } from '../report/outputs.ts';
import { writeReports } from '../report/write-reports.ts';
import {
  folderOf,
  isRunOf,
  judgeCacheOf,
  runsRoot,
  specPath,
} from '../stored-runs/spec-folders.ts';
import { cellsOf } from './cell-option.ts';
import { failedCases, failedCasesIn } from './failed-cases.ts';
import { planOfShard, planShard } from './plan-shard.ts';
import { repeatedCommand } from './repeated-command.ts';
import { casesOf, resumable, resumedOptions, storedOptions } from './resumed-options.ts';
import { StoreSession } from './store-session.ts';
import { isSuiteGood, isSuiteStrictlyGood } from './suite-good.ts';
import { runOptionsIn, type TestOptions } from './test-options.ts';

/** A run that can start: the spec is read, and what was asked for makes sense. */
export interface PreparedTests {
  readonly suite: Suite;
  readonly options: TestOptions;
  readonly commandName: 'test' | 'eval';
  /** The spec as it was named. */
  readonly file: string;
  readonly formats: readonly string[];
  readonly plans: readonly OutputPlan[];
  readonly notifyWith: Awaited<ReturnType<typeof prepareNotify>>;
  /** Where runs are stored. */
  readonly root: string;
  /** The unfinished run to continue. */
  readonly previous: StoredRun | undefined;
  /** The cases to run; all that the options choose if absent. */
  readonly only: readonly CaseName[] | undefined;
  /** The stored run that recordings are of, where that is known. */
  readonly judges?: JudgedRun;
}

/** The queries a run is about, and how often each is run. */
export interface Asked {
  readonly suite: Suite;
  readonly queries: readonly Query[];
  readonly runsOf: (query: Query) => number;
}

/** How a run ended. A dry run makes none. */
export interface EndedTests {
  readonly code: number;
  readonly run?: RunResult;
}

/** Loads, runs, stores, reports; gives the exit code. */
export async function runTests(
  given: TestOptions,
  io: Io,
  commandName: 'test' | 'eval',
): Promise<number> {
  return (await runPrepared(await prepareTests(given, io, commandName), io)).code;
}

/** Reads the spec and the stored run to continue, and refuses what cannot work. */
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

/** What failed before, if only that is to be run. */
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

/** What a prepared run is about, for whoever has to find its recordings. */
export function askedOf({ options, suite, only }: PreparedTests, io: Io): Asked {
  const queries = selectedQueries({ ...runOptionsOf(options, suite, io), only });
  return { suite, queries, runsOf: (query) => options.runs ?? query.runs };
}

/** Runs, stores and reports. `listener` hears what is recorded, too. */
export async function runPrepared(
  prepared: PreparedTests,
  io: Io,
  listener?: Pick<RunSink, 'record'>,
): Promise<EndedTests> {
  const { suite, options, only, previous, root } = prepared;
  const recordings = recordingsOf(options, suite, io);
  refuseInputs(prepared.plans, inputsOf(suite, prepared.file, recordings, io));
  const git = gitState(folderOf(suite, io), io);
  const queueBefore = previous?.header.started_with?.queue as string | undefined;
  const runOptions: RunOptions = {
    ...withCommit(runOptionsOf(options, suite, io), git),
    only,
    queueBefore,
  };
  const run: RunOptions = {
    ...runOptions,
    version: queueBefore === undefined ? runOptions.version : io.version,
    shard: shardOf(prepared, runOptions, io),
  };
  if (options.dryRun) return { code: await printPlan(options, { run, root, io }) };
  const started = { ...storedOptions(options), only, plan_hash: run.shard?.hash };
  const ofStored = recordings === undefined ? undefined : runWithTraces(recordings);
  const judges = previous ? previous.header.judges : (prepared.judges ?? ofStored);
  const session = new StoreSession({
    root,
    suite,
    startedWith: started,
    recordings,
    judges,
    previous,
    canRepeat: options.queue !== undefined || (await isReplayed(options, suite, io)),
    shard: run.shard,
    command: commandOf(prepared, io),
    git,
    io,
  });
  const result = await runInto(session, run, { prepared, recordings, listener, io });
  const ended = { run: result, session, recordings, judges, git, shard: run.shard, started };
  return { code: await reportRun(prepared, ended, io), run: result };
}

/** The part of the queries that this machine runs. */
function shardOf(
  { options, previous, root, suite }: PreparedTests,
  run: RunOptions,
  io: Io,
): ShardPlan | undefined {
  if (options.shard === undefined) return undefined;
  return previous === undefined
    ? planShard(options.shard, run, options, io)
    : planOfShard(previous, options.shard, { root, specHash: suite.hash });
}

const commandOf = ({ options, file, commandName }: PreparedTests, io: Io): string =>
  repeatedCommand({ ...options, file }, { commandName, env: io.env });

/** Runs the suite, and stores what comes of it as it comes. */
async function runInto(
  session: StoreSession,
  run: RunOptions,
  {
    prepared: { options, previous, root },
    recordings,
    listener,
    io,
  }: {
    readonly prepared: PreparedTests;
    readonly recordings: string | undefined;
    readonly listener: Pick<RunSink, 'record'> | undefined;
    readonly io: Io;
  },
): Promise<RunResult> {
  const progress = startProgress(io, { quiet: options.quiet ?? false });
  let result: RunResult;
  try {
    result = await runSuite({
      ...run,
      runId: session.runId,
      resumed: session.entries,
      resumedTraces:
        previous && recordings === undefined ? tracesOf(root, previous.id) : run.resumedTraces,
      sink: {
        ...session.sink,
        event: progress.event,
        record: (entry, trace) => {
          session.record(entry, trace);
          listener?.record?.(entry, trace);
        },
      },
    });
  } catch (error) {
    session.abandon();
    throw error;
  } finally {
    progress.stop();
  }
  session.end(result);
  return result;
}

interface StoredTests {
  readonly run: RunResult;
  readonly session: StoreSession;
  readonly recordings: string | undefined;
  readonly judges: JudgedRun | undefined;
  readonly git: GitState;
  readonly shard: ShardPlan | undefined;
  readonly started: Readonly<Record<string, unknown>>;
}

/** Writes the reports and the history; gives the exit code. */
async function reportRun(
  prepared: PreparedTests,
  { run, session, recordings, judges, git, shard, started }: StoredTests,
  io: Io,
): Promise<number> {
  const { suite, options, plans, root, notifyWith } = prepared;
  const folder = folderOf(suite, io);
  const isWhole = !isPart({ started_with: started });
  // What a run has no recording of was not run in it.
  const hasAll =
    isWhole && !(judges !== undefined && run.results.some(({ error }) => error?.kind === 'trace'));
  const isAllGood = (): boolean =>
    session.isStored &&
    isSuiteGood(root, suite, io) &&
    (options.strict !== true || isSuiteStrictlyGood(root, suite, io));
  const part = hasAll && !run.interrupted ? undefined : { total: suite.queries.length, isAllGood };
  const about = { folder, git, part, ran: judges ?? session.ran, io };
  if (shard !== undefined && plans.some(({ sentTo }) => sentTo !== undefined))
    io.stderr.write(
      'agentci: a shard notifies no one: agentci merge does, once for the whole run\n',
    );
  const { failed } = await writeReports(run, plans, {
    ...(shard === undefined ? notifyWith?.(run, about) : undefined),
    io,
    quiet: options.quiet ?? false,
    // Only `test` resumes; it continues with the recordings of an `eval` as well.
    rerunCommand: run.interrupted
      ? `${commandOf({ ...prepared, commandName: 'test' }, io)} --resume`
      : `${commandOf(prepared, io)} --failed`,
    command: commandOf(prepared, io),
    ...(shard === undefined
      ? await comparedWithBase(run, { root, plans, isPart: !isWhole, io })
      : undefined),
    ...tracesAt(session.isStored ? () => tracesOf(root, session.runId) : recordings),
  });
  // The parts of a run are not runs of their own: merge adds the whole.
  if (session.isStored && shard === undefined) {
    const { keepHistory } = await import('../history/keep-history.ts');
    const kept = { models: session.models, isPart: !hasAll, judges, place: session.place };
    keepHistory(run, { ...kept, folder, git, isRecorded: recordings !== undefined, io });
  }
  // A report someone asked for and did not get must not look like success.
  return failed && run.summary.exit_code === 0 ? 2 : run.summary.exit_code;
}

/** Options that cannot have the effect they are meant to have, whether they were given now or when the run was started. */
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
    throw new UserError('TRACES_MISSING', `--traces: there is no file or folder "${traces}"`);
  // Without it every comparison would be skipped, which looks like nothing got worse.
  if (baselineDir !== undefined && !isFolder(resolve(io.cwd, baselineDir))) {
    throw new UserError(
      'BASELINE_DIR_MISSING',
      `--baseline-dir: there is no folder "${baselineDir}"`,
    );
  }
}

/** Whether cassettes answer in place of the model. */
async function isReplayed(
  { cassette: choice }: TestOptions,
  suite: Suite,
  io: Io,
): Promise<boolean> {
  if (choice === undefined && suite.cassette === undefined) return false;
  const { planCassettes } = await import('@agentci/run/cassette-choice');
  return (
    planCassettes({ choice, config: suite.cassette, specDir: suite.dir, env: io.env })?.mode ===
    'replay'
  );
}

/** Runs that are looked through for what queries cost. */
const MAX_PRICED = 20;

/** A stored run, unless it is damaged. */
function readableRun(root: string, id: string): RunResult | undefined {
  try {
    return readRun(root, id);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** Says what would be run, and runs nothing. */
async function printPlan(
  options: TestOptions,
  { run, root, io }: { run: RunOptions; root: string; io: Io },
): Promise<number> {
  const [{ knownCosts, planRun }, { planText }] = await Promise.all([
    import('@agentci/run/plan-run'),
    import('./plan-text.ts'),
  ]);
  const queries = queriesOfShard(selectedQueries(run), run.shard);
  // The newest run may know no cost: one over recordings, or of a few queries.
  const asked = queries.filter(({ skip }) => skip === undefined);
  let best: { readonly run: RunResult; readonly known: number } | undefined;
  for (const { id } of listRuns(root)
    .filter((stored) => stored.finished && isRunOf(run.suite, stored))
    .slice(0, MAX_PRICED)) {
    const earlier = readableRun(root, id);
    if (earlier === undefined) continue;
    const known = knownCosts(earlier, asked);
    if (best === undefined || known > best.known) best = { run: earlier, known };
    if (known === asked.length) break;
  }
  const plan = planRun(run, queries, best?.run);
  io.stdout.write(options.json ? `${JSON.stringify(plan, null, 2)}\n` : planText(plan));
  return 0;
}

/** Where a report finds the traces; a report without them is still a report. */
export function tracesAt(find: string | undefined | (() => string)): { traces?: string } {
  try {
    const traces = typeof find === 'function' ? find() : find;
    return traces === undefined ? {} : { traces };
  } catch {
    return {};
  }
}

/** Where the recordings are, when nothing is to be run. */
function recordingsOf(options: TestOptions, suite: Suite, io: Io): string | undefined {
  if (options.traces !== undefined) return resolve(io.cwd, options.traces);
  return suite.runner?.kind === 'replay' ? resolve(suite.dir, suite.runner.replay) : undefined;
}

/** What the command line says of a run, with what the program adds. */
export function runOptionsOf(options: TestOptions, suite: Suite, io: Io): RunOptions {
  const { baselineDir, judgeCacheDir, cassette, ...run } = runOptionsIn(options);
  return {
    // As given: messages name the recordings the way the user does.
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

/** Workers may have another commit checked out than we have. */
const withCommit = (run: RunOptions, { commit }: GitState): RunOptions =>
  run.queue === undefined || commit === undefined
    ? run
    : { ...run, queue: { ...run.queue, commit } };

/** What the run reads and a report must not replace. */
function inputsOf(
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
