import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { UserError } from '../kit/user-error.ts';
import { andMore } from '../kit/words.ts';
import { type JournalHeader, journalPath, readHeader } from '../store/journal.ts';
import { type PlanFile, readPlanFile, readShardFile, type ShardFile, shardPath } from '../store/shard-file.ts';

/** Artifacts are unpacked a few folders deep: `shards/shard-1/.agentci/runs/<run>`. */
const MAX_DEPTH = 8;
const MAX_FOLDERS = 100_000;
const MAX_NAMED = 3;

/** A folder that holds one shard's run. */
export interface FoundShard {
  readonly dir: string;
  readonly file: ShardFile;
  readonly header: JournalHeader | undefined;
}

/** What the folders given to merge hold. */
export interface FoundShards {
  /** The plan of all of them; where no shard can be read, there is none. */
  readonly plan: PlanFile;
  /** One for each shard that is there: of several attempts, the newest. */
  readonly shards: readonly FoundShard[];
  /** Attempts that a newer one replaces. */
  readonly replaced: readonly { readonly shard: FoundShard; readonly by: FoundShard }[];
  /** What cannot be read, and why: zip files, folders without a shard, and ones whose `shard.json` is broken. */
  readonly damaged: readonly string[];
}

/**
 * Finds the shards in folders of any layout, and makes sure that they are parts of one run. Where nothing can be read, the rest is still a run:
 * the shard that should have been there is missing.
 */
export function findShards(
  { dirs, unreadable }: { readonly dirs: readonly string[]; readonly unreadable: readonly UserError[] },
  version: string,
): FoundShards {
  const all: FoundShard[] = [];
  const damaged: string[] = [];
  const empty: UserError[] = [...unreadable];
  for (const dir of dirs) {
    const folders = runFoldersIn(dir);
    if (folders.length === 0) empty.push(noShardIn(dir));
    for (const folder of folders) {
      const file = readShardFile(folder);
      if (typeof file === 'string') damaged.push(file);
      else if (!all.some((one) => one.dir === folder))
        all.push({ dir: folder, file, header: readHeader(journalPath(folder)) });
    }
  }
  if (all.length + damaged.length === 0 && empty.length > 0) throw empty[0];
  damaged.push(...empty.map(({ message }) => message));
  refuseMixed(all, version);
  const byIndex = new Map<number, FoundShard[]>();
  for (const shard of all) byIndex.set(shard.file.index, [...(byIndex.get(shard.file.index) ?? []), shard]);
  const shards: FoundShard[] = [];
  const replaced: { shard: FoundShard; by: FoundShard }[] = [];
  for (const attempts of [...byIndex.values()].sort((a, b) => a[0]!.file.index - b[0]!.file.index)) {
    const [newest, ...older] = attempts.sort((a, b) => (ageOf(a) < ageOf(b) ? 1 : -1));
    shards.push(newest!);
    for (const shard of older) replaced.push({ shard, by: newest! });
  }
  refuseOtherCommit(shards);
  return { plan: planIn(shards, damaged), shards, replaced, damaged };
}

/** A shard of an older commit would pass for a part of the newer one. Attempts that were replaced may be of any. */
function refuseOtherCommit(shards: readonly FoundShard[]): void {
  const known = shards.filter(({ header }) => header?.commit !== undefined);
  const [first] = known;
  const other = known.find(({ header }) => header!.commit !== first!.header!.commit);
  if (first === undefined || other === undefined) return;
  const place = ({ file, header, dir }: FoundShard): string =>
    `shard ${file.index} is of ${header!.commit!.slice(0, 7)} (${dir})`;
  throw new UserError('MERGE_OTHER_COMMIT', `these shards are of different commits: ${place(first)}, ${place(other)}`, {
    hint: 'Run every shard of one commit, then merge those.',
  });
}

/** Every shard has the whole plan, so one that can be read is enough. */
function planIn(shards: readonly FoundShard[], damaged: readonly string[]): PlanFile {
  const problems = [...damaged];
  for (const { dir, file } of shards) {
    const plan = readPlanFile(dir, file.count);
    if (typeof plan === 'object') return plan;
    problems.push(plan);
  }
  throw new UserError('MERGE_NO_PLAN', `no shard says what the plan was: ${andMore(problems, MAX_NAMED)}`, {
    hint: 'The folders of all shards are damaged: run the shards again.',
  });
}

/** By when it was started; the names of run folders begin with that too. */
const ageOf = ({ header, dir }: FoundShard): string => header?.started_at ?? basename(dir);

/** Folders with a `shard.json`. Other runs beside them are not looked at. */
function runFoldersIn(dir: string): string[] {
  const found: string[] = [];
  let looked = 0;
  const look = (folder: string, depth: number): void => {
    if (++looked > MAX_FOLDERS)
      throw new UserError('MERGE_NO_SHARD', `${dir} holds more than ${MAX_FOLDERS} folders`, {
        hint: 'Name the folders of the shards themselves.',
      });
    if (existsSync(shardPath(folder))) {
      found.push(folder);
      return;
    }
    if (depth === MAX_DEPTH) return;
    // Links are not followed: one may lead back.
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory() && entry.name !== 'node_modules') look(join(folder, entry.name), depth + 1);
  };
  if (isFolder(dir)) look(dir, 0);
  return found.sort();
}

const isFolder = (dir: string): boolean => statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true;

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
  const refuse = (code: string, what: string, others: readonly FoundShard[], hint: string): void => {
    if (others.length === 0) return;
    const names = andMore(
      others.map(({ dir }) => dir),
      MAX_NAMED,
    );
    throw new UserError(code, `${what}: ${names} and ${first.dir}`, { hint });
  };
  refuse(
    'MERGE_OTHER_SPEC',
    'these shards are of different specs',
    differing(({ agent, spec }) => `${agent} ${spec.hash}`),
    'Run every shard of one commit, then merge those.',
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
