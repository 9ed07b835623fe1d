import { variance } from './descriptive.ts';

/** Standard error of the mean. Null below two values. */
export function standardError(values: readonly number[]): number | null {
  const square = variance(values);
  return square === null ? null : Math.sqrt(square / values.length);
}
