import type { Gap } from './draft.ts';

/** The replies in a list of events: a file can hold the streams of several calls, one after the other or mixed. */
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

/** A key that changes where a stream starts anew, for events that do not name their reply. */
export function countStarts<T>(isStart: (event: T) => boolean): (event: T) => string {
  let count = 0;
  return (event) => {
    if (isStart(event)) count++;
    return String(count);
  };
}

/** What is wrong with a stream, the worse first; nothing where all of it is there. */
export const gapOf = (found: Readonly<Partial<Record<Gap, boolean>>>): { gap?: Gap } => ({
  gap: (['damaged', 'cutOff', 'alternatives'] as const).find((gap) => found[gap] === true),
});
