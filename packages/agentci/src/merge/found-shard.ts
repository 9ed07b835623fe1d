import { basename } from 'node:path';
import { placeOf } from '@agentci/results';
import type { JournalHeader, ShardFile } from '@agentci/run';
import { readResumed } from '@agentci/run';

/** A folder with the run of one shard. */
export interface FoundShard {
  readonly dir: string;
  readonly file: ShardFile;
  readonly header: JournalHeader | undefined;
}

/** Sort key of the shard among runs. Names of run folders start with one too. */
export function placeOfShard({ dir, header }: FoundShard): string {
  const resumed = readResumed(dir)?.place;
  if (resumed !== undefined) return resumed;
  return header === undefined
    ? basename(dir)
    : placeOf({ at: header.started_at, order: header.order });
}

/** Groups shards by a key. */
export function shardsBy<K>(
  all: readonly FoundShard[],
  keyOf: (shard: FoundShard) => K,
): Map<K, FoundShard[]> {
  const groups = new Map<K, FoundShard[]>();
  for (const shard of all) {
    const group = groups.get(keyOf(shard));
    if (group === undefined) groups.set(keyOf(shard), [shard]);
    else group.push(shard);
  }
  return groups;
}
