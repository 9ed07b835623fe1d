import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { QueryResult, UnusedResults } from '@agentci/results';
import { usedBy } from '@agentci/results';
import { spendsMoney } from '@agentci/run';
import type { FoundShard } from './found-shard.ts';
import { readShardLines } from './read-shard.ts';

/** The cost of replaced attempts, as far as readable. Recordings cost nothing. */
export function replacedResults(replaced: readonly FoundShard[]): UnusedResults[] {
  return replaced.flatMap(({ dir }): UnusedResults[] => {
    if (existsSync(join(dir, 'recordings.json'))) return [];
    let results = 0;
    let usd = 0;
    for (const line of readShardLines(dir)) {
      if ('damage' in line || line.revokes) continue;
      results++;
      usd += costOf(line.result);
    }
    return results === 0 ? [] : [{ results, cost_usd: usd }];
  });
}

const costOf = (result: QueryResult): number =>
  result.cassette !== undefined && !spendsMoney(result.cassette)
    ? 0
    : (usedBy(result).cost_usd ?? 0);
