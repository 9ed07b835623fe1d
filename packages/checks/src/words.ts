import { andMore, clip as cut, plural } from '@agentci/lib/text';

/** Numbers and texts as messages show them. */

const MAX_TEXT = 120;
const MAX_ITEMS = 10;

/** At most six decimals, no trailing zeros; very small numbers keep three digits. */
export function number(value: number): string {
  if (Number.isInteger(value)) return String(value);
  if (Math.abs(value) < 1e-5) return String(Number(value.toPrecision(3)));
  return String(Number(value.toFixed(6)));
}

/** Three decimals, as the details of a result give ratios. */
export const rounded = (value: number): number => Math.round(value * 1000) / 1000;

/** A text cut to a length that fits a line. */
export const clip = (text: string, max = MAX_TEXT): string => cut(text, max);

/** A text in quotes, cut to a length that fits a line. */
export const quoted = (text: string): string => JSON.stringify(clip(text));

/** A value as short JSON. */
export function shortJson(value: unknown): string {
  try {
    return clip(JSON.stringify(value) ?? 'nothing');
  } catch {
    return 'a value that is not JSON';
  }
}

/** Names or quoted texts with commas; a long list ends with how many more there are. */
export function listed(items: readonly string[]): string {
  if (items.length === 0) return 'none';
  return andMore(
    items.map((item) => clip(item)),
    MAX_ITEMS,
  );
}

export { plural };
