/** At most so many starts in so many milliseconds. */
export interface QueueRate {
  readonly max: number;
  readonly perMs: number;
}

/** A shorter wait would be for nothing: timers are not more exact. */
const SHORTEST_MS = 50;

/**
 * The same rate in windows as short as they can be. A limit is on windows one after the other, so the end of one and the beginning of the next
 * may together have twice as many starts in the time that providers look at.
 */
export function evenRate({ max, perMs }: QueueRate): QueueRate {
  const each = Math.ceil(perMs / max);
  return each >= SHORTEST_MS
    ? { max: 1, perMs: each }
    : { max: Math.max(1, Math.floor((max * SHORTEST_MS) / perMs)), perMs: SHORTEST_MS };
}
