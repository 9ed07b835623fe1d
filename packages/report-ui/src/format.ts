import { formatMs, formatUsd } from '@agentci/lib/numbers';
import { formatCount } from '@agentci/lib/text';

const UNKNOWN = '—';

/** Unknown is a dash, never 0. */
const orUnknown =
  (format: (value: number) => string) =>
  (value: number | null | undefined): string =>
    typeof value === 'number' && Number.isFinite(value) ? format(value) : UNKNOWN;

export const usd = orUnknown(formatUsd);
/** Enough digits for an axis, where neighbors may differ in the fifth digit. */
export const usdTick = orUnknown((value) => `$${Number(value.toPrecision(3))}`);
export const ms = orUnknown(formatMs);
export const count = orUnknown((value) => formatCount(Math.round(value)));
export const percent = orUnknown((value) => `${Math.round(value * 1000) / 10} %`);

export const FORMATS = { cost_usd: usd, latency_ms: ms, total_tokens: count } as const;
export { plural } from '@agentci/lib/text';

/** `2026-11-15 21:40` in UTC, like the run id. */
export const time = (iso: string | undefined): string =>
  iso === undefined ? '' : iso.slice(0, 16).replace('T', ' ');

export function quantile(sorted: readonly number[], share: number): number | undefined {
  if (sorted.length === 0) return undefined;
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)]!;
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at));
}

export function signOf(value: number): '+' | '−' | '' {
  if (value === 0) return '';
  return value > 0 ? '+' : '−';
}
