import { isObject } from '@agentci/lib/data';
import type { QueryResult } from '@agentci/results';
import { usedBy } from '@agentci/results';
import { spendsMoney } from './cassette-use.ts';

/**
 * The cost of a run of a query from its stored result: the judge, plus the agent unless its answers
 * came from a recording.
 */
export function storedCost(
  result: QueryResult,
  { isRecorded }: { readonly isRecorded: boolean },
): { readonly usd: number; readonly isWhole: boolean } {
  const isFree = isRecorded || (result.cassette !== undefined && !spendsMoney(result.cassette));
  const agent = isFree ? 0 : (usedBy(result).cost_usd ?? undefined);
  const records = Array.isArray(result.correctness.details.judge)
    ? (result.correctness.details.judge as unknown[])
    : [];
  const judge = records.reduce<number>((sum, record) => sum + dollarsIn(record), 0);
  // The cost of a failed agent is not counted during the run either.
  return { usd: (agent ?? 0) + judge, isWhole: agent !== undefined || result.error !== undefined };
}

const dollarsIn = (record: unknown): number =>
  isObject(record) && typeof record.cost_usd === 'number' && Number.isFinite(record.cost_usd)
    ? record.cost_usd
    : 0;
