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
import type { FoundShard } from './found-shard.ts';
import { shardsOfOneCiRun } from './one-ci-run.ts';
import { shardsOfSpec } from './one-spec.ts';

/** Artifacts are unpacked a few folders deep: `shards/shard-1/.agentci/runs/<run>`. */
const MAX_DEPTH = 8;
const MAX_FOLDERS = 100_000;
const MAX_NAMED = 3;

/** Where and when shards are merged. */
interface MergeAt {
  /** Of the program. */
  readonly version: string;
  /** The spec whose shards are meant; undefined where there is only one. */
  readonly spec: string | undefined;
  /** The CI run that merge is a job of. */
  readonly ciRun: string | undefined;
  /** As runs write times. */
  readonly now: string;
}

/** What the folders given to merge hold. */
export interface FoundShards {
  /** The plan of all of them; where no shard can be read, there is none. */
  readonly plan: PlanFile;
  /** One for each shard that is there: of several attempts, the newest. */
  readonly shards: readonly FoundShard[];
  /** The other attempts. */
  readonly replaced: readonly FoundShard[];
  /** What was left out, and which attempts count. */
  readonly notices: readonly string[];
  /** Shards of which it cannot be said what they came to. */
  readonly conflicts: readonly string[];
  /** What cannot be read, and why: zip files, folders without a shard, and ones whose `shard.json` is broken. */
  readonly damaged: readonly string[];
}

/**
 * Finds the shards in folders of any layout, and makes sure that they are parts of one run. Where nothing can be read, the rest is still a run:
 * the shard that should have been there is missing.
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
      // A folder that is given twice, or linked, is one.
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
  const run = shardsOfOneCiRun(ofSpec.shards, ciRun);
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

/** A shard of an older commit would pass for a part of the newer one. Attempts that were replaced may be of any. */
function refuseOtherCommit(shards: readonly FoundShard[]): void {
  const known = shards.filter(({ header }) => header?.commit !== undefined);
  const [first] = known;
  const other = known.find(({ header }) => header!.commit !== first!.header!.commit);
  if (first === undefined || other === undefined) return;
  const place = ({ file, header, dir }: FoundShard): string =>
    `shard ${file.index} is of ${header!.commit!.slice(0, 7)} (${dir})`;
  throw new UserError(
    'MERGE_OTHER_COMMIT',
    `these shards are of different commits: ${place(first)}, ${place(other)}`,
    {
      hint: 'Run every shard of one commit, then merge those.',
    },
  );
}

/** Every shard has the whole plan, so one that can be read is enough. */
function planIn(shards: readonly FoundShard[], damaged: readonly string[]): PlanFile {
  const problems = [...damaged];
  for (const { dir, file } of shards) {
    const plan = readPlanFile(dir, file.count);
    if (typeof plan === 'object') return plan;
    problems.push(plan);
  }
  throw new UserError(
    'MERGE_NO_PLAN',
    `no shard says what the plan was: ${andMore(problems, MAX_NAMED)}`,
    {
      hint: 'The folders of all shards are damaged: run the shards again.',
    },
  );
}

/** Folders with a `shard.json`. Other runs beside them are not looked at. */
function runFoldersIn(dir: string): string[] {
  const found: string[] = [];
  let looked = 0;
  // Links are followed, and one may lead back.
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
    ? new UserError('MERGE_NO_SHARD', `there is no shard in ${dir}`, {
        hint: 'Give the run folders of `agentci test --shard`, or a folder that holds them.',
      })
    : new UserError('MERGE_NO_SHARD', `there is no folder ${dir}`);

/** Parts of different runs make no whole. */
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
    'MERGE_OTHER_SPEC',
    'these shards are of different specs',
    differing(({ agent, spec }) => `${agent} ${spec.hash}`),
    specs.length > 1
      ? `Name the one to merge: ${specs.map((spec) => `-c ${spec}`).join(' or ')}`
      : 'Run every shard of one commit, then merge those.',
  );
  refuse(
    'MERGE_OTHER_PLAN',
    'these shards were planned differently',
    differing(({ count, plan_hash }) => `${count} ${plan_hash}`),
    'Every shard needs the same selection, the same -n and the same .agentci/timings.json. If the file changed in between, run all shards again.',
  );
  const strangers = all.filter(({ file }) => file.version !== version);
  if (strangers.length > 0)
    throw new UserError(
      'MERGE_OTHER_VERSION',
      `${strangers[0]!.dir} was made by agentci ${strangers[0]!.file.version}, and this is ${version}`,
      { hint: 'Use one version for all shards and for merge.' },
    );
}
