import type { RunResult } from '@agentci/results';
import type { RunOptions, RunSink } from '@agentci/run';
import { runSuite, runWithTraces, type ShardPlan, tracesOf } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import { type GitState, gitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';
import { startProgress } from '../cli/progress.ts';
import { refuseInputs } from '../report/outputs.ts';
import { folderOf } from '../stored-runs/spec-folders.ts';
import { planOfShard, planShard } from './plan-shard.ts';
import {
  commandOf,
  inputsOf,
  type PreparedTests,
  prepareTests,
  recordingsOf,
  runOptionsOf,
} from './prepare-tests.ts';
import { reportRun } from './report-tests.ts';
import { storedOptions } from './resumed-options.ts';
import { StoreSession } from './store-session.ts';
import type { TestOptions } from './test-options.ts';

/** A finished run. A dry run has none. */
export interface EndedTests {
  readonly code: number;
  readonly run?: RunResult;
}

/** Loads, runs, stores and reports. Returns the exit code. */
export async function runTests(
  given: TestOptions,
  io: Io,
  commandName: 'test' | 'eval',
): Promise<number> {
  return (await runPrepared(await prepareTests(given, io, commandName), io)).code;
}

/** Runs, stores and reports. `listener` also receives recorded events. */
export async function runPrepared(
  prepared: PreparedTests,
  io: Io,
  listener?: Pick<RunSink, 'record'>,
): Promise<EndedTests> {
  const { suite, options, root } = prepared;
  const recordings = recordingsOf(options, suite, io);
  refuseInputs(prepared.plans, inputsOf(suite, prepared.file, recordings, io));
  const git = gitState(folderOf(suite, io), io);
  const run = runOf(prepared, git, io);
  if (options.dryRun) {
    const { printPlan } = await import('./dry-run.ts');
    return { code: printPlan(options, { run, root, io }) };
  }
  const session = await openSession(prepared, { run, recordings, git, io });
  const result = await runInto(session, run, { prepared, recordings, listener, io });
  const ended = { run: result, session, recordings, git };
  return { code: await reportRun(prepared, ended, io), run: result };
}

/** The run options: from the command line, with this machine's part of the queries. */
function runOf(prepared: PreparedTests, git: GitState, io: Io): RunOptions {
  const { suite, options, only, previous } = prepared;
  const queueBefore = previous?.header.started_with?.queue as string | undefined;
  const run: RunOptions = {
    ...withCommit(runOptionsOf(options, suite, io), git),
    only,
    queueBefore,
  };
  return {
    ...run,
    version: queueBefore === undefined ? run.version : io.version,
    shard: shardOf(prepared, run, io),
  };
}

/** Opens the storage of the run. */
async function openSession(
  prepared: PreparedTests,
  {
    run: { shard },
    recordings,
    git,
    io,
  }: {
    readonly run: RunOptions;
    readonly recordings: string | undefined;
    readonly git: GitState;
    readonly io: Io;
  },
): Promise<StoreSession> {
  const { suite, options, only, previous, root } = prepared;
  const ofStored = recordings === undefined ? undefined : runWithTraces(recordings);
  return new StoreSession({
    root,
    suite,
    startedWith: { ...storedOptions(options), only, plan_hash: shard?.hash },
    recordings,
    judges: previous ? previous.header.judges : (prepared.judges ?? ofStored),
    previous,
    canRepeat: options.queue !== undefined || (await isReplayed(options, suite, io)),
    shard,
    command: commandOf(prepared, io),
    git,
    io,
  });
}

/** The queries for this machine. */
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

/** Runs the suite and stores results as they arrive. */
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

/** Workers may have a different commit checked out. */
const withCommit = (run: RunOptions, { commit }: GitState): RunOptions =>
  run.queue === undefined || commit === undefined
    ? run
    : { ...run, queue: { ...run.queue, commit } };
