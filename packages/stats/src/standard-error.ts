import { variance } from './descriptive.ts';

/** Standard error of the mean; null below two values, where nothing says how far the mean may be off. */
export function standardError(values: readonly number[]): number | null {
  const square = variance(values);
  return square === null ? null : Math.sqrt(square / values.length);
}
