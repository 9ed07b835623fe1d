import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { queriesOfShard, type ShardPlan } from '../engine/plan-shards.ts';
import type { RunOptions } from '../engine/run-options.ts';
import { runSuite, selectedQueries } from '../engine/run-suite.ts';
import { formatDiagnostic } from '../kit/diagnostic.ts';
import { escapeTerminal } from '../kit/escape.ts';
import { UserError } from '../kit/user-error.ts';
import type { CaseName } from '../results/cell.ts';
import type { RunResult } from '../results/run-result.ts';
import { loadSpec } from '../spec/load.ts';
import type { Query, Suite } from '../spec/suite.ts';
import type { JournalEntry, JudgedRun } from '../store/journal.ts';
import {
  isDamage,
  isPart,
  listRuns,
  readRun,
  runWithTraces,
  tracesOf,
} from '../store/stored-runs.ts';
import type { Trace } from '../trace/model.ts';
import { comparedWithBase } from './base-run.ts';
import { cellsOf } from './cell-option.ts';
import { failedCases, failedCasesIn } from './failed-cases.ts';
import { type GitState, gitState } from './git-state.ts';
import type { Io } from './io.ts';
import { prepareNotify } from './notify/prepare.ts';
import { withFolder } from './options.ts';
import { planOutputs, refuseInputs, suiteOutputs } from './outputs.ts';
import { planOfShard, planShard } from './plan-shard.ts';
import { startProgress } from './progress.ts';
import { repeatedCommand } from './repeated-command.ts';
import { casesOf, resumable, resumedOptions, storedOptions } from './resumed-options.ts';
import { folderOf, isRunOf, judgeCacheOf, runsRoot } from './spec-folders.ts';
import { specPath } from './spec-path.ts';
import { StoreSession } from './store-session.ts';
import { isSuiteGood, isSuiteStrictlyGood } from './suite-good.ts';
import { runOptionsIn, type TestOptions } from './test-options.ts';
import { writeReports } from './write-reports.ts';

/** What someone who runs tests again and again wants to know of each run, and what of it is to be run. */
export interface RunHooks {
  readonly only?: readonly CaseName[];
  /** Where the recordings are, and the stored run they are of; told which queries it is about. */
  readonly findRecordings?: (asked: Asked) => {
    readonly traces: string;
    readonly judges: JudgedRun | undefined;
  };
  readonly onSuite?: (suite: Suite) => void;
  readonly onRecord?: (entry: JournalEntry, trace: Trace | undefined) => void;
  readonly onRun?: (run: RunResult) => void;
}

/** The queries a run is about, and how often each is run. */
export interface Asked {
  readonly suite: Suite;
  readonly queries: readonly Query[];
  readonly runsOf: (query: Query) => number;
}

/** Loads, runs, stores, reports; gives the exit code. */
export async function runTests(
  given: TestOptions,
  io: Io,
  commandName: 'test' | 'eval',
  hooks: RunHooks = {},
): Promise<number> {
  const formats =
    given.json && !given.dryRun ? [...(given.format ?? []), 'json'] : (given.format ?? []);
  const asked = planOutputs({ formats, files: given.output ?? [], env: io.env, cwd: io.cwd });
  const file = specPath(given.config, io.cwd);
  const { suite, diagnostics } = await loadSpec(file);
  hooks.onSuite?.(suite);
  if (!given.quiet)
    for (const warning of diagnostics)
      io.stderr.write(`${escapeTerminal(formatDiagnostic(warning))}\n`);
  const isAsked = formats.length > 0 || given.output !== undefined;
  const plans = isAsked ? asked : [...asked, ...suiteOutputs(suite, io)];
  const notifyWith = await prepareNotify(plans, given, io);
  const root = runsRoot(folderOf(suite, io));
  const previous = given.resume ? resumable(root, suite, given) : undefined;
  const chosen = previous ? resumedOptions(given, previous) : given;
  refuseUseless(chosen, io);
  let only: readonly CaseName[] | undefined;
  if (hooks.only) only = hooks.only;
  else if (previous) only = casesOf(previous);
  else if (chosen.failed) only = failedCases(root, suite, { io, strict: chosen.strict });
  else if (chosen.failedFrom !== undefined)
    only = failedCasesIn(resolve(io.cwd, chosen.failedFrom), suite, { strict: chosen.strict });
  else only = undefined;
  const found = hooks.findRecordings?.({
    suite,
    queries: selectedQueries({ ...runOptionsOf(chosen, suite, io), only }),
    runsOf: (query) => chosen.runs ?? query.runs,
  });
  const options = found === undefined ? chosen : { ...chosen, traces: found.traces };
  const recordings = recordingsOf(options, suite, io);
  refuseInputs(plans, inputsOf(suite, file, recordings, io));
  const git = gitState(folderOf(suite, io), io);
  const queueBefore = previous?.header.started_with?.queue as string | undefined;
  const runOptions = {
    ...withCommit(runOptionsOf(options, suite, io), git),
    only,
    queueBefore,
    version: queueBefore === undefined ? undefined : io.version,
  };
  let shard: ShardPlan | undefined;
  if (options.shard === undefined) shard = undefined;
  else if (previous !== undefined)
    shard = planOfShard(previous, options.shard, { root, specHash: suite.hash });
  else shard = planShard(options.shard, runOptions, options, io);
  if (options.dryRun) return printPlan(options, { run: { ...runOptions, shard }, root, io });
  const started = startedWith(options, only, shard);
  const judges = previous
    ? previous.header.judges
    : (found?.judges ?? (recordings === undefined ? undefined : runWithTraces(recordings)));
  const command = repeatedCommand({ ...options, file }, { commandName, env: io.env });
  const session = new StoreSession({
    root,
    suite,
    startedWith: started,
    recordings,
    judges,
    previous,
    canRepeat: options.queue !== undefined || (await isReplayed(options, suite, io)),
    shard,
    command,
    git,
    io,
  });
  const progress = startProgress(io, { quiet: options.quiet ?? false });
  let run: RunResult;
  try {
    run = await runSuite({
      ...runOptions,
      shard,
      runId: session.runId,
      resumed: session.entries,
      resumedTraces:
        previous && recordings === undefined
          ? tracesOf(root, previous.id)
          : runOptions.resumedTraces,
      onEvent: progress.onEvent,
      onRecord: (entry, trace) => {
        session.record(entry, trace);
        hooks.onRecord?.(entry, trace);
      },
      keep: session.keep,
      onParts: session.keepParts,
      begin: session.begin,
      sync: session.sync,
    });
  } catch (error) {
    session.abandon();
    throw error;
  } finally {
    progress.stop();
  }
  session.end(run);
  hooks.onRun?.(run);

  const isWhole = !isPart({ started_with: started });
  // What a run has no recording of was not run in it.
  const hasAll =
    isWhole && !(judges !== undefined && run.results.some(({ error }) => error?.kind === 'trace'));
  const isAllGood = (): boolean =>
    session.isStored &&
    isSuiteGood(root, suite, io) &&
    (options.strict !== true || isSuiteStrictlyGood(root, suite, io));
  const part = hasAll && !run.interrupted ? undefined : { total: suite.queries.length, isAllGood };
  if (shard !== undefined && plans.some(({ sentTo }) => sentTo !== undefined))
    io.stderr.write(
      'agentci: a shard notifies no one: agentci merge does, once for the whole run\n',
    );
  const { failed } = await writeReports(run, plans, {
    ...(shard === undefined &&
      notifyWith?.(run, {
        folder: folderOf(suite, io),
        git,
        part,
        ran: judges ?? session.ran,
        io,
      })),
    io,
    quiet: options.quiet ?? false,
    // Only `test` resumes; it continues with the recordings of an `eval` as well.
    rerunCommand: run.interrupted
      ? `${repeatedCommand({ ...options, file }, { commandName: 'test', env: io.env })} --resume`
      : `${command} --failed`,
    command,
    ...(shard === undefined &&
      (await comparedWithBase(run, { root, plans, isPart: !isWhole, io }))),
    ...tracesAt(session.isStored ? () => tracesOf(root, session.runId) : recordings),
  });
  // The parts of a run are not runs of their own: merge adds the whole.
  if (session.isStored && shard === undefined) {
    const { keepHistory } = await import('./keep-history.ts');
    const about = {
      models: session.models,
      isPart: !hasAll,
      git,
      judges,
      place: session.place,
      isRecorded: recordings !== undefined,
    };
    keepHistory(run, { folder: folderOf(suite, io), ...about, io });
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
  const { planCassettes } = await import('../engine/cassette-choice.ts');
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
    import('../engine/plan-run.ts'),
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

/** What is stored of how a run was started. */
function startedWith(
  options: TestOptions,
  only: readonly CaseName[] | undefined,
  shard: ShardPlan | undefined,
): Record<string, unknown> {
  return { ...storedOptions(options), only, plan_hash: shard?.hash };
}

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
