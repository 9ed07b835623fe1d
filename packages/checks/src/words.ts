import { andMore, clip as cut, plural } from '@agentci/lib/text';

/** Longest text in a message. */

const MAX_TEXT = 120;
const MAX_ITEMS = 10;

/** Up to six decimals without trailing zeros. Very small numbers keep three digits. */
export function number(value: number): string {
  if (Number.isInteger(value)) return String(value);
  if (Math.abs(value) < 1e-5) return String(Number(value.toPrecision(3)));
  return String(Number(value.toFixed(6)));
}

/** Rounds to three decimals, as in `details`. */
export const rounded = (value: number): number => Math.round(value * 1000) / 1000;

export const clip = (text: string, max = MAX_TEXT): string => cut(text, max);

export const quoted = (text: string): string => JSON.stringify(clip(text));

export function shortJson(value: unknown): string {
  try {
    return clip(JSON.stringify(value) ?? 'nothing');
  } catch {
    return 'a value that is not JSON';
  }
}

/**
 * Names or quoted texts, separated by commas. A long list ends with the number of remaining items.
 */
export function listed(items: readonly string[]): string {
  if (items.length === 0) return 'none';
  return andMore(
    items.map((item) => clip(item)),
    MAX_ITEMS,
  );
}

export { plural };
