import type { Quantity, Totals } from '@agentci/trace';
import { quantityOf } from '@agentci/trace';
import type { CheckContext } from './check.ts';
import { rounded } from './words.ts';

/**
 * Resource use of the run, limited or not, and its ratio to the baseline. Unknown is null, never 0.
 */
export function costDetails(
  { trace, totals, baseline }: Omit<CheckContext, 'siblings'>,
  limits: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const value = (quantity: Quantity): number | null => {
    const known = quantityOf(trace, quantity);
    return known.exact ? known.value : null;
  };
  // Shows the source's claim. Limits and multipliers use the sum of its calls.
  const shown = (quantity: Quantity): number | null =>
    quantity.exact && quantity.claimed !== undefined && value(quantity) !== null
      ? quantity.claimed
      : value(quantity);
  const cost = shown(totals.costUsd);
  const ttftMs = trace.reported?.ttftMs;
  const details: Record<string, unknown> = {
    actual: {
      cost_usd: cost === null ? null : roundUsd(cost),
      total_tokens: shown(totals.totalTokens),
      llm_calls: shown(totals.llmCalls),
      latency_ms: value(totals.latencyMs),
      ttft_ms: ttftMs,
      cold_start_ms:
        trace.reported?.coldStartMs === undefined ? undefined : trace.reported.coldStartMs,
    },
  };
  for (const [key, field, limit] of RATIOS) {
    const now = value(totals[field]);
    const max = limits[limit];
    if (now !== null && typeof max === 'number' && max > 0) details[key] = rounded(now / max);
  }
  if (baseline === undefined) return details;
  for (const [key, field] of MULTIPLIERS) {
    const now = value(totals[field]);
    const before = quantityOf(baseline.trace, baseline.totals[field]);
    if (now !== null && before.exact && before.value > 0)
      details[key] = rounded(now / before.value);
  }
  return details;
}

/** Rounds to a millionth. Amounts below a hundredth of a cent keep more digits. */
const roundUsd = (usd: number): number => {
  const digits = Math.abs(usd) < 1e-4 ? 1e12 : 1e6;
  return Math.round(usd * digits) / digits;
};

type Field = keyof Pick<Totals, 'costUsd' | 'totalTokens' | 'latencyMs'>;

/** Use divided by limit. */
const RATIOS: readonly (readonly [string, Field, string])[] = [
  ['token_ratio', 'totalTokens', 'max_total_tokens'],
  ['latency_ratio', 'latencyMs', 'max_latency_ms'],
];

/** Use divided by the baseline's use. */
const MULTIPLIERS: readonly (readonly [string, Field])[] = [
  ['cost_multiplier', 'costUsd'],
  ['token_multiplier', 'totalTokens'],
  ['latency_multiplier', 'latencyMs'],
];
