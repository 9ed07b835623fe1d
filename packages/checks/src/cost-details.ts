import type { Quantity, Totals } from '@agentci/trace';
import { quantityOf } from '@agentci/trace';
import type { CheckContext } from './check.ts';
import { rounded } from './words.ts';

/** What the run used, whatever is limited, and how that compares with the baseline. Unknown is null, never 0. */
export function costDetails(
  { trace, totals, baseline }: Omit<CheckContext, 'siblings'>,
  limits: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const value = (quantity: Quantity): number | null => {
    const known = quantityOf(trace, quantity);
    return known.exact ? known.value : null;
  };
  // A claim of the source is shown as it is; limits and multipliers use what its calls add up to.
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

/** To a millionth; below a hundredth of a cent that would be another price. */
const roundUsd = (usd: number): number => {
  const digits = Math.abs(usd) < 1e-4 ? 1e12 : 1e6;
  return Math.round(usd * digits) / digits;
};

type Field = keyof Pick<Totals, 'costUsd' | 'totalTokens' | 'latencyMs'>;

/** What was used of what is allowed. */
const RATIOS: readonly (readonly [string, Field, string])[] = [
  ['token_ratio', 'totalTokens', 'max_total_tokens'],
  ['latency_ratio', 'latencyMs', 'max_latency_ms'],
];

/** What was used for each unit the baseline used. */
const MULTIPLIERS: readonly (readonly [string, Field])[] = [
  ['cost_multiplier', 'costUsd'],
  ['token_multiplier', 'totalTokens'],
  ['latency_multiplier', 'latencyMs'],
];
