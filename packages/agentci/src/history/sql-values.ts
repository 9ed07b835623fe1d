/** Turns a value of DuckDB into JSON; `nested` is for the values in lists and structs. */
export type Converter = (value: unknown, type: unknown, nested: Converter) => unknown;

/**
 * Numbers are numbers in JSON as far as a reader gets them exactly: DuckDB's own converter writes every count as text, since it may be
 * beyond 2^53.
 */
export const withNumbers =
  (toJson: Converter): Converter =>
  (value, type, nested) =>
    exactNumber(value) ?? toJson(value, type, nested);

function exactNumber(value: unknown): number | undefined {
  if (typeof value === 'bigint') return isExact(value) ? Number(value) : undefined;
  // 1.50 is 150 with two digits after the point.
  if (typeof value !== 'object' || value === null || !('scale' in value && 'value' in value))
    return undefined;
  return typeof value.value === 'bigint' && isExact(value.value)
    ? Number(String(value))
    : undefined;
}

const isExact = (value: bigint): boolean => Number.isSafeInteger(Number(value));
