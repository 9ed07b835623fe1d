/**
 * Throws if a value is not a number. One NaN would make every result NaN, and no gate would notice.
 */
export function requireNumbers(values: readonly number[], what = 'the values'): void {
  for (let i = 0; i < values.length; i++) {
    const value: unknown = values[i];
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw new RangeError(`${what} are finite numbers, but number ${i + 1} is ${String(value)}`);
  }
}

/** Throws if a number is NaN, infinite or out of range. */
export function requireNumber(
  value: number,
  what: string,
  { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = {},
): void {
  if (typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max) return;
  const low = min === Number.NEGATIVE_INFINITY ? '' : ` of at least ${min}`;
  const range =
    max === Number.POSITIVE_INFINITY ? `a finite number${low}` : `a number from ${min} to ${max}`;
  throw new RangeError(`${what} is ${range}, not ${String(value)}`);
}

/** The same arithmetic in another order differs by a few units in the last digit. */
const DUST = 64 * Number.EPSILON;

/**
 * Whether a sample varies beyond rounding. `scale` is the size of the original numbers if that is
 * larger, because a difference of two large numbers carries their rounding errors.
 */
export function varies(values: readonly number[], scale = 0): boolean {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return high - low > DUST * Math.max(Math.abs(low), Math.abs(high), scale);
}

/** The largest absolute value. */
export const sizeOf = (values: readonly number[]): number => {
  let largest = 0;
  for (const value of values) largest = Math.max(largest, Math.abs(value));
  return largest;
};
