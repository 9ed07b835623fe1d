import { clusteredStandardError } from './clustered-standard-error.ts';
import { type Interval, type IntervalOptions, levelOf } from './interval.ts';
import { wilsonAt } from './wilson-interval.ts';

/**
 * One outcome among several that belong together. Equal units of one cluster carry no new
 * information.
 */
export interface ClusteredOutcome {
  readonly cluster: string;
  readonly unit: string;
  readonly isSuccess: boolean;
}

/**
 * Wilson's interval of a clustered rate. It uses the number of independent outcomes with the same
 * information, at most the number of different units. Null for no outcomes.
 */
export function clusteredRateInterval(
  outcomes: readonly ClusteredOutcome[],
  options?: IntervalOptions,
): Interval | null {
  if (outcomes.length === 0) return null;
  const units = new Set(outcomes.map(({ cluster, unit }) => `${cluster}\n${unit}`)).size;
  const rate = outcomes.filter(({ isSuccess }) => isSuccess).length / outcomes.length;
  const error = clusteredStandardError(
    outcomes.map(({ isSuccess }) => Number(isSuccess)),
    outcomes.map(({ cluster }) => cluster),
  );
  // If all outcomes agree, or there is one cluster, the spread between clusters is unknown.
  const independent = error === null || error === 0 ? units : (rate * (1 - rate)) / (error * error);
  return wilsonAt(rate, Math.max(1, Math.min(units, independent)), levelOf(options));
}
