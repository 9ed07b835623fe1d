import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { planShards, type ShardPlan } from '../engine/plan-shards.ts';
import type { RunOptions } from '../engine/run-options.ts';
import { selectedQueries } from '../engine/run-suite.ts';
import { UserError } from '../kit/user-error.ts';
import type { StoredRun } from '../store/stored-runs.ts';
import { readTimings, timingsPath } from '../store/timings.ts';
import type { Io } from './io.ts';
import type { ShardChoice } from './options.ts';
import { folderOf } from './spec-folders.ts';

/** What this process runs of the selected queries; every shard comes to the same plan. */
export function planShard(
  { index, count }: ShardChoice,
  run: RunOptions,
  { weights }: { readonly weights?: string },
  io: Io,
): ShardPlan {
  const file = weights === undefined ? timingsPath(folderOf(run.suite, io)) : resolve(io.cwd, weights);
  if (weights !== undefined && !existsSync(file))
    throw new UserError('WEIGHTS_MISSING', `--weights: there is no file "${weights}"`, {
      hint: 'agentci merge writes one. Without --weights, queries count as equally long.',
    });
  return planShards({
    specHash: run.suite.hash,
    queries: selectedQueries(run),
    runsOf: (query) => run.runs ?? query.runs,
    index,
    count,
    timings: readTimings(file),
  });
}

/** A shard that continues with another plan would leave out queries that no shard runs. */
export function refuseOtherPlan({ id, header }: StoredRun, shard: ShardPlan | undefined): void {
  if (header.started_with?.plan_hash === shard?.hash) return;
  throw new UserError('RESUME_PLAN_CHANGED', `--resume: run ${id} was started with another plan of its shards`, {
    hint: 'Use the timings of that time (--weights), or start a new run without --resume.',
  });
}
