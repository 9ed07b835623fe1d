/** Converts a DuckDB value to JSON. `nested` converts the values in lists and structs. */
export type Converter = (value: unknown, type: unknown, nested: Converter) => unknown;

/**
 * Writes numbers as JSON numbers if they are exact. DuckDB's own converter writes every count as
 * text, because it may exceed 2^53.
 */
export const withNumbers =
  (toJson: Converter): Converter =>
  (value, type, nested) =>
    exactNumber(value) ?? toJson(value, type, nested);

function exactNumber(value: unknown): number | undefined {
  if (typeof value === 'bigint') return isExact(value) ? Number(value) : undefined;
  // 1.50 is stored as 150 with scale 2.
  if (typeof value !== 'object' || value === null || !('scale' in value && 'value' in value))
    return undefined;
  return typeof value.value === 'bigint' && isExact(value.value)
    ? Number(String(value))
    : undefined;
}

const isExact = (value: bigint): boolean => Number.isSafeInteger(Number(value));
