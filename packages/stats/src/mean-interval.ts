import { mean } from './descriptive.ts';
import { type Interval, type IntervalOptions, levelOf } from './interval.ts';
import { standardError } from './standard-error.ts';
import { studentQuantile } from './student-t.ts';

/** Interval of the mean from Student's t. Null below two values. */
export function meanInterval(
  values: readonly number[],
  options?: IntervalOptions,
): Interval | null {
  const middle = mean(values);
  const se = standardError(values);
  if (middle === null || se === null) return null;
  const half = studentQuantile(levelOf(options), values.length - 1) * se;
  return { low: middle - half, high: middle + half };
}
