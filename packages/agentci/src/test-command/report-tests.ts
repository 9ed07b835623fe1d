import type { RunResult } from '@agentci/results';
import { tracesOf } from '@agentci/run';
import type { GitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';
import { comparedWithBase } from '../report/base-run.ts';
import { tracesAt, writeReports } from '../report/write-reports.ts';
import { folderOf } from '../stored-runs/spec-folders.ts';
import { commandOf, type PreparedTests } from './prepare-tests.ts';
import type { StoreSession } from './store-session.ts';
import { isSuiteGood, isSuiteStrictlyGood } from './suite-verdict.ts';

interface StoredTests {
  readonly run: RunResult;
  readonly session: StoreSession;
  readonly recordings: string | undefined;
  readonly git: GitState;
}

/** Writes the reports and the history. Returns the exit code. */
export async function reportRun(
  prepared: PreparedTests,
  { run, session, recordings, git }: StoredTests,
  io: Io,
): Promise<number> {
  const { suite, options, plans, root, notifyWith } = prepared;
  const { judges, shard, isWhole } = session;
  const folder = folderOf(suite, io);
  // Queries without a recording did not run.
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
    // Only `test` resumes. It also continues an `eval` with its recordings.
    rerunCommand: run.interrupted
      ? `${commandOf({ ...prepared, commandName: 'test' }, io)} --resume`
      : `${commandOf(prepared, io)} --failed`,
    command: commandOf(prepared, io),
    ...(shard === undefined
      ? await comparedWithBase(run, { root, plans, isPart: !isWhole, io })
      : undefined),
    ...tracesAt(session.isStored ? () => tracesOf(root, session.runId) : recordings),
  });
  // Shards are not separate runs. Merge adds the whole run.
  if (session.isStored && shard === undefined) {
    const { keepHistory } = await import('../history/keep-history.ts');
    const kept = { models: session.models, isPart: !hasAll, judges, place: session.place };
    keepHistory(run, { ...kept, folder, git, isRecorded: recordings !== undefined, io });
  }
  // Merge, --resume and strict runs rely on the stored run.
  const isMissed =
    !session.isStored &&
    (options.strict === true || options.resume === true || shard !== undefined);
  // A requested report or a needed run that could not be written must not look like success.
  return (failed || isMissed) && run.summary.exit_code === 0 ? 2 : run.summary.exit_code;
}
