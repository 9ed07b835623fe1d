import type { Gap } from './draft.ts';

/**
 * The replies in a list of events, because a file may contain several streams in sequence or
 * interleaved.
 */
export function splitStreams<T>(
  events: readonly T[],
  keyOf: (event: T, before: string | undefined) => string,
): T[][] {
  const streams = new Map<string, T[]>();
  let before: string | undefined;
  for (const event of events) {
    before = keyOf(event, before);
    const same = streams.get(before);
    if (same === undefined) streams.set(before, [event]);
    else same.push(event);
  }
  return [...streams.values()];
}

/** A key that changes at each stream start, for events that do not name their reply. */
export function countStarts<T>(isStart: (event: T) => boolean): (event: T) => string {
  let count = 0;
  return (event) => {
    if (isStart(event)) count++;
    return String(count);
  };
}

/** The worst problem of a stream. Empty if it is complete. */
export const gapOf = (found: Readonly<Partial<Record<Gap, boolean>>>): { gap?: Gap } => ({
  gap: (['damaged', 'cutOff', 'alternatives'] as const).find((gap) => found[gap] === true),
});
