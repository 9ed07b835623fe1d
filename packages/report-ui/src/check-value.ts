import { formatCount } from '@agentci/lib/text';
import { ms, usd } from './format.ts';
import { valueText } from './visible-text.ts';

/** Formats a number: integers with grouping, others with three significant digits. */
export function roundNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value)) return formatCount(value);
  const size = Math.abs(value);
  if (size >= 1000) return formatCount(Math.round(value));
  if (size >= 100) return formatCount(Math.round(value * 10) / 10);
  return size >= 0.01
    ? String(Math.round(value * 100) / 100)
    : String(Number(value.toPrecision(2)));
}

/**
 * Formats the value or limit of a check with the unit from its name: `$0.0184`, `1.20 s`, `9.51 ×`.
 */
export function checkValue(id: string, value: unknown): string {
  if (value === null) return 'not known';
  if (typeof value !== 'number') return valueText(value);
  const key = id.slice(id.lastIndexOf('.') + 1);
  if (/multiplier|ratio$/.test(key)) return `${roundNumber(value)}\u00a0×`;
  if (/usd/.test(key)) return usd(value);
  if (/latency|_ms$/.test(key)) return ms(value);
  return roundNumber(value);
}
