import { clusteredStandardError } from './clustered-standard-error.ts';
import { type Interval, type IntervalOptions, levelOf } from './interval.ts';
import { wilsonAt } from './wilson-interval.ts';

/** One outcome of several that belong together: equal units of one cluster say the same thing again. */
export interface ClusteredOutcome {
  readonly cluster: string;
  readonly unit: string;
  readonly isSuccess: boolean;
}

/**
 * Wilson's interval of a rate whose outcomes come in clusters: with the number of outcomes that would say as much if they
 * were independent. That is never more than the number of different units. Null of no outcomes.
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
  // Where all agree, or there is one cluster, nothing can be said about how much clusters differ.
  const independent = error === null || error === 0 ? units : (rate * (1 - rate)) / (error * error);
  return wilsonAt(rate, Math.max(1, Math.min(units, independent)), levelOf(options));
}
