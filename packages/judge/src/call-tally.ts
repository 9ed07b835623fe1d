import type { VerdictKey } from './cache-files.ts';
import type { JudgeRecord } from './port.ts';

const MAX_RAW = 16 * 1024;

/** Resource use of the calls for one verdict, including the repair. */
export interface CallTally {
  calls: number;
  input: number | undefined;
  output: number | undefined;
  costUsd: number | null;
  readonly warnings: Set<string>;
}

export const newTally = (): CallTally => ({
  calls: 0,
  input: undefined,
  output: undefined,
  costUsd: 0,
  warnings: new Set(),
});

/** The record stored with a verdict or failure. */
export function recordOf(key: VerdictKey, tally: CallTally, raw: string | undefined): JudgeRecord {
  return {
    ...key,
    cached: false,
    calls: tally.calls,
    raw: raw?.slice(0, MAX_RAW),
    input_tokens: tally.input,
    output_tokens: tally.output,
    cost_usd: tally.costUsd,
    warnings: tally.warnings.size > 0 ? [...tally.warnings] : undefined,
  };
}

export const addTokens = (sum: number | undefined, more: number | undefined): number | undefined =>
  more === undefined ? sum : (sum ?? 0) + more;

/** A sum with an unknown part is unknown. */
export const addCost = (sum: number | null, usd: number | undefined): number | null =>
  sum === null || usd === undefined ? null : sum + usd;
