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

/** A text cut to a length that fits a line. Its characters stay as they are: each reporter escapes for its own sink. */
export function clip(text: string, max = MAX_TEXT): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max);
  // Never leave half of a surrogate pair behind.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

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
  const shown = items.slice(0, MAX_ITEMS).map((item) => clip(item));
  return items.length > MAX_ITEMS ? `${shown.join(', ')} and ${items.length - MAX_ITEMS} more` : shown.join(', ');
}

export const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
