import type { Quantity, Totals } from '../trace/totals.ts';
import { quantityOf } from './bounds.ts';
import type { CheckContext } from './check.ts';
import { rounded } from './words.ts';

/** What the run used, whatever is limited, and how that compares with the baseline. Unknown is null, never 0. */
export function costDetails({ trace, totals, baseline }: Omit<CheckContext, 'siblings'>): Record<string, unknown> {
  const value = (quantity: Quantity): number | null => {
    const known = quantityOf(trace, quantity);
    return known.exact ? known.value : null;
  };
  // A claim of the source is shown as it is; limits and multipliers use what its calls add up to.
  const shown = (quantity: Quantity): number | null =>
    quantity.exact && quantity.claimed !== undefined && value(quantity) !== null ? quantity.claimed : value(quantity);
  const cost = shown(totals.costUsd);
  const ttftMs = trace.reported?.ttftMs;
  const details: Record<string, unknown> = {
    actual: {
      cost_usd: cost === null ? null : Math.round(cost * 1e6) / 1e6,
      total_tokens: shown(totals.totalTokens),
      llm_calls: shown(totals.llmCalls),
      latency_ms: value(totals.latencyMs),
      ...(ttftMs === undefined ? {} : { ttft_ms: ttftMs }),
    },
  };
  if (baseline === undefined) return details;
  for (const [key, field] of RATIOS) {
    const now = value(totals[field]);
    const before = quantityOf(baseline.trace, baseline.totals[field]);
    if (now !== null && before.exact && before.value > 0) details[key] = rounded(now / before.value);
  }
  return details;
}

const RATIOS: readonly (readonly [string, keyof Pick<Totals, 'costUsd' | 'totalTokens' | 'latencyMs'>])[] = [
  ['cost_multiplier', 'costUsd'],
  ['token_ratio', 'totalTokens'],
  ['latency_ratio', 'latencyMs'],
];
