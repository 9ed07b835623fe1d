import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { sha256Hex } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { escapeTerminalLine } from '@agentci/lib/text';
import {
  isPart,
  type JournalHeader,
  RunLock,
  RunStore,
  timingsPath,
  tracesOf,
  updateTimings,
} from '@agentci/run';
import { ciRunOf } from '../ci/ci-run.ts';
import type { Io } from '../cli/io.ts';
import { keepHistory } from '../history/keep-history.ts';
import type { prepareNotify } from '../notify/prepare.ts';
import { comparedWithBase } from '../report/base-run.ts';
import type { OutputPlan } from '../report/outputs.ts';
import { tracesAt, writeReports } from '../report/write-reports.ts';
import { placeOfRun } from '../stored-runs/run-place.ts';
import { runsRoot, specFolder, specPath } from '../stored-runs/spec-folders.ts';
import { quote, repeatedCommand } from '../test-command/repeated-command.ts';
import { newRunId } from '../test-command/store-session.ts';
import { type FoundShards, findShards } from './find-shards.ts';
import { mergeShards } from './merge-shards.ts';
import { timingsOf } from './query-timings.ts';
import type { Given } from './shard-folders.ts';

export interface MergeFlags {
  readonly config?: string;
  readonly out?: string;
  readonly timings?: string;
  readonly format?: readonly string[];
  readonly output?: readonly string[];
  readonly json?: boolean;
  readonly quiet?: boolean;
}

interface MergeInput {
  readonly given: Given;
  readonly plans: readonly OutputPlan[];
  readonly notifyWith: Awaited<ReturnType<typeof prepareNotify>>;
  readonly io: Io;
}

export async function mergeRuns(
  { config, out, timings, quiet = false }: MergeFlags,
  { given, plans, notifyWith, io }: MergeInput,
): Promise<number> {
  const found = findShards(given, {
    version: io.version,
    spec: config === undefined ? undefined : specPath(config, io.cwd),
    ciRun: ciRunOf(io.env),
    now: new Date(io.now()).toISOString(),
  });
  const folder = specFolder(config, io);
  const identity = identityOf(found);
  const { runId, startedAt, shardRuns } = identity;
  const dir =
    out === undefined ? resolve(runsRoot(folder), runId) : freshFolder(resolve(io.cwd, out), out);
  const { file, header } = found.shards[0]!;
  const { shard: _, plan_hash: __, ...startedWith } = header?.started_with ?? {};
  const git = { commit: header?.commit, branch: header?.branch };
  const judged = { judges: header?.judges };
  const place = placeOfRun(folder, {
    id: runId,
    at: startedAt,
    after: found.shards.flatMap((shard) => shard.header ?? []),
    io,
  });
  if (out === undefined) removeEarlier(dir, runId);
  const { run, models } = await storeMerged(found, identity, {
    dir,
    order: place.order,
    startedWith,
    withShownNames: given.withShownNames,
  });
  const shown = relative(io.cwd, dir) || dir;
  const about = { folder, isPart: isPart({ started_with: startedWith }), git, io };
  const { failed } = await writeReports(run, plans, {
    ...notifyWith?.(run, {
      folder,
      git,
      io,
      ran: header?.judges ?? { at: startedAt, order: place.order },
      part: about.isPart ? { total: file.suite_size } : undefined,
    }),
    io,
    quiet,
    rerunCommand: `${againCommand(header, config ?? file.spec.file, io)} --failed-from ${quote(shown)}`,
    command: file.command,
    ...(await comparedWithBase(run, { root: runsRoot(folder), plans, isPart: about.isPart, io })),
    ...tracesAt(() => tracesOf(dirname(dir), basename(dir))),
  });
  io.stderr.write(`merged: ${escapeTerminalLine(shown)}\n`);
  const isRecorded = existsSync(join(dir, 'recordings.json'));
  keepHistory(run, { ...about, ...judged, place, shardRuns, models, isRecorded });
  keepTimings(
    timings === undefined ? timingsPath(folder) : resolve(io.cwd, timings),
    timingsOf(run.results),
    io,
  );
  return failed && run.summary.exit_code === 0 ? 2 : run.summary.exit_code;
}

/** Merges the shards into a stored run. */
async function storeMerged(
  found: FoundShards,
  { runId, startedAt, shardRuns }: ReturnType<typeof identityOf>,
  {
    dir,
    order,
    startedWith,
    withShownNames,
  }: {
    readonly dir: string;
    readonly order: string | undefined;
    readonly startedWith: JournalHeader['started_with'];
    readonly withShownNames: (text: string) => string;
  },
): ReturnType<typeof mergeShards> {
  const { file, header } = found.shards[0]!;
  const store = RunStore.create(
    dirname(dir),
    {
      run_id: runId,
      agent: file.agent,
      spec: file.spec,
      started_at: startedAt,
      commit: header?.commit,
      branch: header?.branch,
      judges: header?.judges,
      shard_runs: shardRuns,
      order,
      started_with: startedWith,
    },
    { durability: 'batched', inMemory: 0, dir },
  );
  try {
    const merged = await mergeShards(found, { store, runId, withShownNames });
    store.finish(merged.run);
    return merged;
  } catch (error) {
    store.close();
    throw error;
  }
}

/**
 * Recordings are judged again at their original path. Without a runner, `test` would have nothing
 * to run.
 */
function againCommand(header: JournalHeader | undefined, file: string, io: Io): string {
  const { traces, strict } = header?.started_with ?? {};
  const isRecorded = typeof traces === 'string';
  return repeatedCommand(
    { file, traces: isRecorded ? traces : undefined, strict: strict === true ? strict : undefined },
    { commandName: isRecorded ? 'eval' : 'test', env: io.env },
  );
}

/**
 * Identity of a merged run. Merging the same shards again gives the same run and id. Its time is
 * that of its newest shard, so it comes right after them.
 */
function identityOf({ shards }: FoundShards): {
  readonly runId: string;
  readonly startedAt: string;
  readonly shardRuns: readonly string[];
} {
  const shardRuns = shards.map(({ dir, header }) => header?.run_id ?? basename(dir)).sort();
  const starts = shards
    .map(({ header }) => Date.parse(header?.started_at ?? ''))
    .filter(Number.isFinite);
  const startedAt = new Date(Math.max(0, ...starts) + 1).toISOString();
  const chance = Number.parseInt(sha256Hex(JSON.stringify(shardRuns)).slice(0, 4), 16) / 0x10000;
  return { runId: newRunId(startedAt, chance), startedAt, shardRuns };
}

/** The same shards were merged before, so their result is replaced. */
function removeEarlier(dir: string, runId: string): void {
  if (!existsSync(dir)) return;
  RunLock.take(dir, runId).release();
  rmSync(dir, { recursive: true, force: true });
}

/** A merged run never replaces other files. */
function freshFolder(dir: string, given: string): string {
  const nearest = nearestThere(dir);
  if (!statSync(nearest).isDirectory())
    throw new UserError(
      'FILE_EXISTS',
      `--out: ${given} is not a folder${nearest === dir ? '' : `, since ${basename(nearest)} is a file`}`,
      { hint: 'Choose another folder.' },
    );
  if (nearest !== dir || readdirSync(dir).length === 0) return dir;
  throw new UserError('FILE_EXISTS', `--out: ${given} is not empty`, {
    hint: 'Choose another folder, or empty it.',
  });
}

/** The path itself, or its nearest existing parent. */
const nearestThere = (path: string): string =>
  existsSync(path) ? path : nearestThere(dirname(path));

function keepTimings(path: string, timings: ReadonlyMap<string, number>, io: Io): void {
  if (timings.size === 0) return;
  try {
    const why = updateTimings(path, timings, ciRunOf(io.env));
    if (why !== undefined)
      io.stderr.write(`agentci: the timings could not be read and are replaced: ${why}\n`);
  } catch (error) {
    io.stderr.write(`agentci: the timings are not written: ${(error as Error).message}\n`);
  }
}
