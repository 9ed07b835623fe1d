/** A range expected to contain the true value. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface IntervalOptions {
  /** Share of such intervals that contain the true value. Default: 0.95. */
  readonly level?: number;
}

export const DEFAULT_LEVEL = 0.95;

/** Throws if the level is outside 0…1. */
export function levelOf(options: IntervalOptions | undefined): number {
  const level = options?.level ?? DEFAULT_LEVEL;
  if (!(level > 0 && level < 1)) throw new RangeError(`a level is between 0 and 1, not ${level}`);
  return level;
}

/** Throws unless counts are whole, at least 0, and successes at most n. */
export function requireCounts(counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) {
    if (!Number.isInteger(count) || count < 0)
      throw new RangeError(`${name} is a whole number of at least 0, not ${count}`);
  }
}

export function requireSameLength(
  a: readonly unknown[],
  b: readonly unknown[],
  what: string,
): void {
  if (a.length !== b.length)
    throw new RangeError(`${what} differ in length: ${a.length} and ${b.length}`);
}
