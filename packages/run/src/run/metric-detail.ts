const MAX_TEXT = 500;
const MAX_ITEMS = 50;
const MAX_DEPTH = 6;

/**
 * Details for a report. Long texts and lists are cut, because the answer and its context are
 * already in it.
 */
export function compactDetail(detail: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return compact(detail, 0) as Record<string, unknown>;
}

function compact(value: unknown, depth: number): unknown {
  if (typeof value === 'string')
    return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT - 1)}…` : value;
  // JSON has neither NaN nor Infinity, but a custom metric may return them.
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null)
    return typeof value === 'function' ? undefined : value;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value))
    return value.slice(0, MAX_ITEMS).map((item) => compact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_ITEMS)
      .map(([key, item]) => [key, compact(item, depth + 1)]),
  );
}
