import { isObject } from '@agentci/lib/data';
import type { QueryResult } from '@agentci/results';
import { usedBy } from '@agentci/results';
import { spendsMoney } from './cassette-use.ts';

/** What a run of a query has cost, from its stored result: the agent, unless its answers were there already, and the judge. */
export function spentBefore(
  result: QueryResult,
  { isRecorded }: { readonly isRecorded: boolean },
): { readonly usd: number; readonly isWhole: boolean } {
  const isFree = isRecorded || (result.cassette !== undefined && !spendsMoney(result.cassette));
  const agent = isFree ? 0 : (usedBy(result).cost_usd ?? undefined);
  const records = Array.isArray(result.correctness.details.judge)
    ? (result.correctness.details.judge as unknown[])
    : [];
  const judge = records.reduce<number>((sum, record) => sum + dollarsIn(record), 0);
  // An agent that failed is not counted while it runs either.
  return { usd: (agent ?? 0) + judge, isWhole: agent !== undefined || result.error !== undefined };
}

const dollarsIn = (record: unknown): number =>
  isObject(record) && typeof record.cost_usd === 'number' && Number.isFinite(record.cost_usd)
    ? record.cost_usd
    : 0;
