import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { sha256Hex } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { escapeTerminalLine } from '@agentci/lib/text';
import type { JournalHeader } from '@agentci/run';
import { isPart, RunLock, RunStore, timingsPath, tracesOf, updateTimings } from '@agentci/run';
import { ciRunOf } from '../../ci/ci-run.ts';
import { keepHistory } from '../../history/keep-history.ts';
import { type FoundShards, findShards } from '../../merge/find-shards.ts';
import { mergeShards } from '../../merge/merge-shards.ts';
import { timingsOf } from '../../merge/timings-of.ts';
import { addNotifyFlags, type NotifyOptions } from '../../notify/flags.ts';
import { prepareNotify } from '../../notify/prepare.ts';
import { comparedWithBase } from '../../report/base-run.ts';
import { type OutputPlan, planOutputs } from '../../report/outputs.ts';
import { writeReports } from '../../report/write-reports.ts';
import { placeOfRun } from '../../stored-runs/run-place.ts';
import { runsRoot, specFolder, specPath } from '../../stored-runs/spec-folders.ts';
import { quote, repeatedCommand } from '../../test-command/repeated-command.ts';
import { tracesAt } from '../../test-command/run-tests.ts';
import { newRunId } from '../../test-command/store-session.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Io } from '../io.ts';
import { collect } from '../options.ts';

interface Options {
  readonly config?: string;
  readonly out?: string;
  readonly timings?: string;
  readonly format?: readonly string[];
  readonly output?: readonly string[];
  readonly json?: boolean;
  readonly quiet?: boolean;
}

export const command: CliCommand = {
  name: 'merge',
  summary: 'join the runs of all shards into one, and decide over the whole run',
  configure: (parser) =>
    addNotifyFlags(parser)
      .argument(
        '<dir...>',
        'run folders of `agentci test --shard`, or folders or zip files that hold them',
      )
      .option(
        '--out <dir>',
        'where to write the merged run (default: a new folder in .agentci/runs)',
      )
      .option(
        '-c, --config <file>',
        'merge the shards of this spec, and store the run beside it; the file itself is not read',
      )
      .option(
        '--timings <file>',
        'where to write how long each query took (default: .agentci/timings.json)',
      )
      .option('-f, --format <name[=file]>', 'a report, to stdout or a file (repeatable)', collect)
      .option(
        '-o, --output <file>',
        'write a report to a file; its extension decides the format (repeatable)',
        collect,
      )
      .option('--json', 'the same as -f json')
      .option('--quiet', 'only failures and the summary')
      .addHelpText(
        'after',
        `
Exit: that of the whole run; 2 when a shard is missing, damaged or unfinished. What is there is written all the same.

Examples:
  agentci merge shards/
  agentci merge shards/ --out merged -f console -f junit=results.xml
  agentci test --failed-from merged`,
      ),
  run: async ({ args, options, io }) => {
    const { format = [], output, json } = options as Options;
    const formats = json ? [...format, 'json'] : format;
    const plans = planOutputs({ formats, files: output ?? [], env: io.env, cwd: io.cwd });
    const notifyWith = await prepareNotify(plans, options as NotifyOptions, io);
    const { removeTemporaryFolder } = await import('@agentci/lib/files');
    const given = await unpackZips(args, io);
    try {
      return await merge(options as Options & NotifyOptions, { given, plans, notifyWith, io });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      throw new UserError(error.code, given.told(error.message), { hint: error.hint });
    } finally {
      for (const dir of given.unpacked.keys()) removeTemporaryFolder(dir);
    }
  },
};

interface Given {
  readonly dirs: readonly string[];
  /** Folders that zip files were unpacked to, and what those are called. */
  readonly unpacked: ReadonlyMap<string, string>;
  /** What cannot be read at all. */
  readonly unreadable: readonly UserError[];
  /** A text with the names of zip files where it has folders that will be gone. */
  readonly told: (text: string) => string;
}

/** Folders as they are; of zip files, which is how CI systems hand out artifacts, what is in them. One that is damaged is a shard that is missing. */
async function unpackZips(given: readonly string[], io: Io): Promise<Given> {
  const { isZip, unpackZip } = await import('../../merge/unpack-zip.ts');
  const unpacked = new Map<string, string>();
  const unreadable: UserError[] = [];
  const unpack = (zip: string, shown: string): string[] => {
    try {
      if (!isZip(zip))
        throw new UserError('MERGE_NO_SHARD', `${shown} is neither a folder nor a zip file`);
      const dir = unpackZip(zip, shown);
      unpacked.set(dir, shown);
      return [dir];
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      unreadable.push(error);
      return [];
    }
  };
  const dirs = given.flatMap((shown): string[] => {
    const path = resolve(io.cwd, shown);
    const facts = statSync(path, { throwIfNoEntry: false });
    if (facts === undefined) return [path];
    if (!facts.isDirectory()) return unpack(path, shown);
    const zips = zipsIn(path);
    // A folder of nothing but zip files has no shard of its own.
    const own = zips.length === 0 || hasFolders(path) ? [path] : [];
    return [...own, ...zips.flatMap((zip) => unpack(zip, join(shown, basename(zip))))];
  });
  const told = (text: string): string =>
    [...unpacked].reduce((done, [dir, zip]) => done.replaceAll(dir, zip), text);
  return { dirs, unpacked, unreadable, told };
}

const zipsIn = (dir: string): string[] =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.zip'))
    .sort()
    .map((name) => join(dir, name));

const hasFolders = (dir: string): boolean =>
  readdirSync(dir).some(
    (name) => statSync(join(dir, name), { throwIfNoEntry: false })?.isDirectory() === true,
  );

interface MergeInput {
  readonly given: Given;
  readonly plans: readonly OutputPlan[];
  readonly notifyWith: Awaited<ReturnType<typeof prepareNotify>>;
  readonly io: Io;
}

async function merge(
  { config, out, timings, quiet = false }: Options,
  { given, plans, notifyWith, io }: MergeInput,
): Promise<number> {
  const found = findShards(given, {
    version: io.version,
    spec: config === undefined ? undefined : specPath(config, io.cwd),
    ciRun: ciRunOf(io.env),
    now: new Date(io.now()).toISOString(),
  });
  const folder = specFolder(config, io);
  const { runId, startedAt, shardRuns } = identityOf(found);
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
  const store = RunStore.create(
    dirname(dir),
    {
      run_id: runId,
      agent: file.agent,
      spec: file.spec,
      started_at: startedAt,
      ...git,
      ...judged,
      shard_runs: shardRuns,
      order: place.order,
      started_with: startedWith,
    },
    { durability: 'batched', inMemory: 0, dir },
  );
  let merged: Awaited<ReturnType<typeof mergeShards>>;
  try {
    merged = await mergeShards(found, { store, runId, told: given.told });
  } catch (error) {
    store.close();
    throw error;
  }
  const { run, models } = merged;
  store.finish(run);
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

/** Recordings are judged again where they are; without a runner `test` would have nothing to run. */
function againCommand(header: JournalHeader | undefined, file: string, io: Io): string {
  const { traces, strict } = header?.started_with ?? {};
  const isRecorded = typeof traces === 'string';
  return repeatedCommand(
    { file, traces: isRecorded ? traces : undefined, strict: strict === true ? strict : undefined },
    { commandName: isRecorded ? 'eval' : 'test', env: io.env },
  );
}

/**
 * What tells a merged run from others: the same shards merged again are the same run, with the same id. Its time is that of its newest shard,
 * so that it comes right after them.
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

/** The same shards were merged before: what came of it is written again. */
function removeEarlier(dir: string, runId: string): void {
  if (!existsSync(dir)) return;
  RunLock.take(dir, runId).release();
  rmSync(dir, { recursive: true, force: true });
}

/** A merged run replaces nothing that someone else put there. */
function freshFolder(dir: string, given: string): string {
  const nearest = nearestThere(dir);
  if (!statSync(nearest).isDirectory())
    throw new UserError(
      'OUT_NOT_A_FOLDER',
      `--out: ${given} is not a folder${nearest === dir ? '' : `, since ${basename(nearest)} is a file`}`,
      { hint: 'Choose another folder.' },
    );
  if (nearest !== dir || readdirSync(dir).length === 0) return dir;
  throw new UserError('OUT_NOT_EMPTY', `--out: ${given} is not empty`, {
    hint: 'Choose another folder, or empty it.',
  });
}

/** The path itself, or the first above it that is there. */
const nearestThere = (path: string): string =>
  existsSync(path) ? path : nearestThere(dirname(path));

function keepTimings(path: string, timings: ReadonlyMap<string, number>, io: Io): void {
  if (timings.size === 0) return;
  try {
    const why = updateTimings(path, timings, ciRunOf(io.env));
    if (why !== undefined)
      io.stderr.write(`agentci: the timings could not be read and are written anew: ${why}\n`);
  } catch (error) {
    io.stderr.write(`agentci: the timings are not written: ${(error as Error).message}\n`);
  }
}
