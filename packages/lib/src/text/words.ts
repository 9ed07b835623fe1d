/** `1 query`, `4,200 queries`. Grouped by hand, because a locale must not change a report. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

export function formatCount(count: number): string {
  // Fast path, because most counts need no separator.
  if (count >= 0 && count < 1000 && Number.isInteger(count)) return String(count);
  const [whole = '', fraction] = String(count).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** The first items of a list and the number of others: `a, b and 3 more`. */
export function andMore(items: readonly string[], max: number): string {
  const shown = items.slice(0, max).join(', ');
  return items.length > max ? `${shown} and ${formatCount(items.length - max)} more` : shown;
}

/** Cuts a text to a length without escaping it, because each reporter escapes for its own sink. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max);
  // Never leaves half of a surrogate pair.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
