import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { UserError } from '@agentci/lib/problems';
import type { RunOptions } from '@agentci/run';
import {
  listRuns,
  planHash,
  planShards,
  readPlanFile,
  readShardFile,
  readTimings,
  type ShardPlan,
  type StoredRun,
  selectedQueries,
  shardPath,
  timingsPath,
} from '@agentci/run';
import type { Suite } from '@agentci/spec';
import { ciRunOf } from '../ci/ci-run.ts';
import type { Io } from '../cli/io.ts';
import type { ShardChoice } from '../cli/options.ts';
import { folderOf, runsRoot } from '../stored-runs/spec-folders.ts';

/** The part of the selected queries for this process. Every shard computes the same plan. */
export function planShard(
  { index, count }: ShardChoice,
  run: RunOptions,
  { weights }: { readonly weights?: string },
  io: Io,
): ShardPlan {
  const file =
    weights === undefined ? timingsPath(folderOf(run.suite, io)) : resolve(io.cwd, weights);
  if (weights !== undefined && !existsSync(file))
    throw new UserError('FILE_MISSING', `--weights: no file "${weights}"`, {
      hint: 'agentci merge writes one. Without --weights, queries count as equally long.',
    });
  const ciRun = ciRunOf(io.env);
  const plan = planShards({
    specHash: run.suite.hash,
    queries: selectedQueries(run),
    runsOf: (query) => run.runs ?? query.runs,
    index,
    count,
    timings: readTimings(file, ciRun),
  });
  // In CI, the timings contain the previous results. Elsewhere, existing shards do.
  return weights === undefined && ciRun === undefined
    ? (planBeside(plan, run.suite, io) ?? plan)
    : plan;
}

/**
 * The plan of the newest shard in this folder, if it has the same queries. Merge may have written
 * other timings since, and a shard planned with those would not fit the existing ones.
 */
function planBeside(plan: ShardPlan, suite: Suite, io: Io): ShardPlan | undefined {
  const root = runsRoot(folderOf(suite, io));
  const { index, count } = plan;
  for (const { id } of listRuns(root)) {
    const dir = join(root, id);
    const file = existsSync(shardPath(dir)) ? readShardFile(dir) : 'not a shard';
    if (typeof file === 'string' || file.count !== count || file.spec.hash !== suite.hash) continue;
    const kept = readPlanFile(dir, count);
    if (typeof kept === 'string' || planHash(suite.hash, kept) !== file.plan_hash) continue;
    if (isDeepStrictEqual([kept.cases, kept.runs], plain([plan.cases, plan.runs])))
      return { index, count, hash: file.plan_hash, ...kept };
  }
  return undefined;
}

/** Normalizes to the values in a file. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/**
 * The plan of an unfinished shard. With newer timings, a new plan could omit queries that no shard
 * runs.
 */
export function planOfShard(
  { id, header }: StoredRun,
  { index, count }: ShardChoice,
  { root, specHash }: { readonly root: string; readonly specHash: string },
): ShardPlan {
  const plan = readPlanFile(join(root, id), count);
  const why = typeof plan === 'string' ? plan : 'its plan.json was changed';
  if (typeof plan !== 'string') {
    const hash = planHash(specHash, plan);
    if (hash === header.started_with?.plan_hash) return { index, count, hash, ...plan };
  }
  throw new UserError('RESUME_REFUSED', `--resume: run ${id} cannot be continued: ${why}`, {
    hint: 'Start a new run of this shard without --resume.',
  });
}
