/*
 * The order of runs is the order in which they came to be, whatever the clocks of their machines said. Each run has a place, a text that sorts,
 * and is given it once, when it starts: its time, or, where that would put it before a run that is there already, right after that run. No later
 * run moves it. Times decide only between runs that did not know of each other. What is shown as the date of a run is always its own.
 */

/** The place of a run: what it was given, or else its time. */
export const placeOf = ({
  at,
  order,
}: {
  readonly at: string;
  readonly order?: string | undefined;
}): string => order ?? runTime(at);

/** A run that is there when another one gets its place. */
export interface SeenRun {
  readonly id: string;
  readonly place: string;
  /** What its clock said, in the form that ids of runs begin with. */
  readonly time: string;
}

/**
 * The place of a run of some time among others: after those that are dated before it, and after those that are dated after now, whose
 * dates say nothing. For a run that starts now that is all of them.
 */
export function placeAmong(
  seen: readonly SeenRun[],
  { time, now }: { readonly time: string; readonly now: string },
) {
  let last = '';
  for (const run of seen)
    if ((run.time <= time || run.time > now) && run.place > last) last = run.place;
  if (last < time) return time;
  let next: string | undefined;
  for (const { place } of seen)
    if (place > last && (next === undefined || place < next)) next = place;
  const place = placeAfter(last);
  return next === undefined || place < next ? place : `${last}~000001`;
}

/** The place right after another: `20261115-214012345~000001`. The sign sorts after all that are in ids. */
export function placeAfter(place: string): string {
  const [, start = '', count = ''] = /^(.*)~(\d{6})$/.exec(place) ?? [];
  return count === ''
    ? `${place}~000001`
    : `${start}~${String(Number(count) + 1).padStart(6, '0')}`;
}

/** The runs that are dated after now and that no run with an earlier date has found there yet, the oldest first. */
export function runsAhead(seen: readonly SeenRun[], now: string): string[] {
  if (!seen.some(({ time }) => time > now)) return [];
  const ahead: string[] = [];
  let earliest: string | undefined;
  for (const { id, time } of seen.toSorted(
    (a, b) => Number(a.place < b.place) - Number(a.place > b.place),
  )) {
    if (time > now && (earliest === undefined || time <= earliest)) ahead.push(id);
    if (earliest === undefined || time < earliest) earliest = time;
  }
  return ahead.reverse();
}

/**
 * Of runs in their order, those whose date does not fit: the fewest without which the dates of the others rise. A run is among them as well
 * where it is dated after now.
 */
export function misdatedRuns(
  runs: readonly { readonly at: string; readonly order?: string }[],
  now: string,
): Set<number> {
  if (runs.every(({ at }, index) => index === 0 || runs[index - 1]!.at <= at))
    return new Set([...runs.keys()].filter((index) => runTime(runs[index]!.at) > now));
  const times = runs.map(({ at, order = '' }) => {
    const time = runTime(at);
    // A run that was resumed is as new as that.
    return order > time && !order.includes('~') ? order : time;
  });
  // The longest rising row of dates: `ends[n]` is the run with the earliest date that n others can come before.
  const ends: number[] = [];
  const before: number[] = [];
  for (const [index, time] of times.entries()) {
    if (time > now) continue;
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (times[ends[middle]!]! <= time) low = middle + 1;
      else high = middle;
    }
    before[index] = ends[low - 1] ?? -1;
    ends[low] = index;
  }
  const misdated = new Set(runs.keys());
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index]!) misdated.delete(index);
  return misdated;
}

/** A time in the form that ids of runs begin with: `20261115-214012345`. Such texts sort by time, and before an id of that moment. */
export const runTime = (at: string): string =>
  // Thousands of lines of a history are put in order; times are nearly always written like this.
  at.length === 24
    ? `${at.slice(0, 4)}${at.slice(5, 7)}${at.slice(8, 10)}-${at.slice(11, 13)}${at.slice(14, 16)}${at.slice(17, 19)}${at.slice(20, 23)}`
    : at.replace(/[-:.Z]/g, '').replace('T', '-');
