import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { andMore } from '@agentci/lib/text';
import {
  journalPath,
  type PlanFile,
  readHeader,
  readPlanFile,
  readShardFile,
  type ShardFile,
  shardPath,
} from '@agentci/run';
import { chooseAttempts } from './choose-attempts.ts';
import { shardsOfCiRun } from './ci-run-shards.ts';
import type { FoundShard } from './found-shard.ts';
import { shardsOfSpec } from './spec-shards.ts';

/** CI systems unpack artifacts a few folders deep: `shards/shard-1/.agentci/runs/<run>`. */
const MAX_DEPTH = 8;
const MAX_FOLDERS = 100_000;
const MAX_NAMED = 3;

/** Context of a merge. */
interface MergeAt {
  /** Version of the program. */
  readonly version: string;
  /** The spec to merge. Undefined if there is only one. */
  readonly spec: string | undefined;
  /** The CI run of the merge job. */
  readonly ciRun: string | undefined;
  /** In the time format of runs. */
  readonly now: string;
}

/** The content of the folders given to merge. */
export interface FoundShards {
  /** The common plan. At least one shard must be readable. */
  readonly plan: PlanFile;
  /** One per existing shard, the newest of its attempts. */
  readonly shards: readonly FoundShard[];
  /** The other attempts. */
  readonly replaced: readonly FoundShard[];
  /** Explains skipped shards and chosen attempts. */
  readonly notices: readonly string[];
  /** Shards with an unclear result. */
  readonly conflicts: readonly string[];
  /**
   * Unreadable items with the reason: zip files, folders without a shard, and broken `shard.json`
   * files.
   */
  readonly damaged: readonly string[];
}

/**
 * Finds the shards in folders of any layout and checks that they belong to one run. Unreadable
 * parts count as missing shards.
 */
export function findShards(
  {
    dirs,
    unreadable,
  }: { readonly dirs: readonly string[]; readonly unreadable: readonly UserError[] },
  { version, spec, ciRun, now }: MergeAt,
): FoundShards {
  const all: FoundShard[] = [];
  const damaged: string[] = [];
  const empty: UserError[] = [...unreadable];
  const seen = new Set<string>();
  for (const dir of dirs) {
    const folders = runFoldersIn(dir);
    if (folders.length === 0) empty.push(noShardIn(dir));
    for (const folder of folders) {
      // A folder that is given twice, or linked, counts once.
      if (seen.has(realpathSync(folder))) continue;
      seen.add(realpathSync(folder));
      const file = readShardFile(folder);
      if (typeof file === 'string') damaged.push(file);
      else all.push({ dir: folder, file, header: readHeader(journalPath(folder)) });
    }
  }
  if (all.length + damaged.length === 0 && empty.length > 0) throw empty[0];
  damaged.push(...empty.map(({ message }) => message));
  const ofSpec = shardsOfSpec(all, spec);
  const run = shardsOfCiRun(ofSpec.shards, ciRun);
  refuseMixed(run.shards, version);
  const { shards, replaced, notices, conflicts } = chooseAttempts(run.shards, now);
  refuseOtherCommit(shards);
  return {
    plan: planIn(shards, damaged),
    shards,
    replaced,
    notices: [...ofSpec.notices, ...run.notices, ...notices],
    conflicts,
    damaged,
  };
}

/**
 * A shard of an older commit would pass for a part of the newer one. Replaced attempts may have any
 * commit.
 */
function refuseOtherCommit(shards: readonly FoundShard[]): void {
  const known = shards.filter(({ header }) => header?.commit !== undefined);
  const [first] = known;
  const other = known.find(({ header }) => header!.commit !== first!.header!.commit);
  if (first === undefined || other === undefined) return;
  const place = ({ file, header, dir }: FoundShard): string =>
    `shard ${file.index} is of ${header!.commit!.slice(0, 7)} (${dir})`;
  throw new UserError(
    'MERGE_MISMATCH',
    `these shards are of different commits: ${place(first)}, ${place(other)}`,
    {
      hint: 'Run every shard of one commit, then merge those.',
    },
  );
}

/** Every shard contains the whole plan, so one readable shard is enough. */
function planIn(shards: readonly FoundShard[], damaged: readonly string[]): PlanFile {
  const problems = [...damaged];
  for (const { dir, file } of shards) {
    const plan = readPlanFile(dir, file.count);
    if (typeof plan === 'object') return plan;
    problems.push(plan);
  }
  throw new UserError(
    'MERGE_NO_SHARD',
    `no shard says what the plan was: ${andMore(problems, MAX_NAMED)}`,
    {
      hint: 'The folders of all shards are damaged: run the shards again.',
    },
  );
}

/** Folders with a `shard.json`. Ignores other runs next to them. */
function runFoldersIn(dir: string): string[] {
  const found: string[] = [];
  let looked = 0;
  // Links are followed and may form a cycle.
  const seen = new Set<string>();
  const look = (folder: string, depth: number): void => {
    const real = realpathSync(folder);
    if (seen.has(real)) return;
    seen.add(real);
    if (++looked > MAX_FOLDERS)
      throw new UserError('MERGE_NO_SHARD', `${dir} holds more than ${MAX_FOLDERS} folders`, {
        hint: 'Name the folders of the shards themselves.',
      });
    if (existsSync(shardPath(folder))) {
      found.push(folder);
      return;
    }
    if (depth === MAX_DEPTH) return;
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      const isDir = entry.isDirectory() || (entry.isSymbolicLink() && isFolder(path));
      if (isDir && entry.name !== 'node_modules') look(path, depth + 1);
    }
  };
  if (isFolder(dir)) look(dir, 0);
  return found.sort();
}

const isFolder = (dir: string): boolean =>
  statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true;

const noShardIn = (dir: string): UserError =>
  isFolder(dir)
    ? new UserError('MERGE_NO_SHARD', `no shard in ${dir}`, {
        hint: 'Give the run folders of `agentci test --shard`, or a folder that holds them.',
      })
    : new UserError('MERGE_NO_SHARD', `no folder ${dir}`);

/** Rejects shards of different runs. */
function refuseMixed(all: readonly FoundShard[], version: string): void {
  const [first] = all;
  if (first === undefined) return;
  const differing = (of: (file: ShardFile) => string): FoundShard[] =>
    all.filter(({ file }) => of(file) !== of(first.file));
  const refuse = (
    code: string,
    what: string,
    others: readonly FoundShard[],
    hint: string,
  ): void => {
    if (others.length === 0) return;
    const names = andMore(
      others.map(({ dir }) => dir),
      MAX_NAMED,
    );
    throw new UserError(code, `${what}: ${names} and ${first.dir}`, { hint });
  };
  const specs = [...new Set(all.map(({ file }) => file.spec.file))];
  refuse(
    'MERGE_MISMATCH',
    'these shards are of different specs',
    differing(({ agent, spec }) => `${agent} ${spec.hash}`),
    specs.length > 1
      ? `Name the one to merge: ${specs.map((spec) => `-c ${spec}`).join(' or ')}`
      : 'Run every shard of one commit, then merge those.',
  );
  refuse(
    'MERGE_MISMATCH',
    'these shards were planned differently',
    differing(({ count, plan_hash }) => `${count} ${plan_hash}`),
    'Every shard needs the same selection, the same -n and the same .agentci/timings.json. If the file changed in between, run all shards again.',
  );
  const strangers = all.filter(({ file }) => file.version !== version);
  if (strangers.length > 0)
    throw new UserError(
      'MERGE_MISMATCH',
      `${strangers[0]!.dir} was made by agentci ${strangers[0]!.file.version}, and this is ${version}`,
      { hint: 'Use one version for all shards and for merge.' },
    );
}
