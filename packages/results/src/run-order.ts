/*
 * Orders runs by arrival, whatever the clocks of their machines said. Each run gets a sortable
 * position once, when it starts: its time, or a position right after the last run if its time would
 * sort before that. Later runs never move it. Times decide only between runs that did not know each
 * other. The displayed date is always the run's own.
 */

/** The position of a run: the assigned one, or its time. */
export const placeOf = ({
  at,
  order,
}: {
  readonly at: string;
  readonly order?: string | undefined;
}): string => order ?? runTime(at);

/** An existing run at the time that another one gets its position. */
export interface SeenRun {
  readonly id: string;
  readonly place: string;
  /** Its clock time, in the format of run ids. */
  readonly time: string;
}

/**
 * The position of a run among others: after those with an earlier date, and after those dated in
 * the future, whose dates say nothing. A run that starts now sorts after all others.
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

/**
 * The position right after another: `20261115-214012345~000001`. The tilde sorts after every
 * character of an id.
 */
export function placeAfter(place: string): string {
  const [, start = '', count = ''] = /^(.*)~(\d{6})$/.exec(place) ?? [];
  return count === ''
    ? `${place}~000001`
    : `${start}~${String(Number(count) + 1).padStart(6, '0')}`;
}

/** Future-dated runs that no earlier-dated run has seen yet, oldest first. */
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
 * Runs with inconsistent dates: the fewest to remove so that the other dates rise, and any dated in
 * the future.
 */
export function misdatedRuns(
  runs: readonly { readonly at: string; readonly order?: string }[],
  now: string,
): Set<number> {
  if (runs.every(({ at }, index) => index === 0 || runs[index - 1]!.at <= at))
    return new Set([...runs.keys()].filter((index) => runTime(runs[index]!.at) > now));
  const times = runs.map(({ at, order = '' }) => {
    const time = runTime(at);
    // A resumed run is as new as its resumption.
    return order > time && !order.includes('~') ? order : time;
  });
  // Longest increasing subsequence of dates: `ends[n]` is the run with the earliest date that n
  // others can precede.
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
  // Fast path for histories of thousands of lines, whose times nearly always have this form.
  at.length === 24
    ? `${at.slice(0, 4)}${at.slice(5, 7)}${at.slice(8, 10)}-${at.slice(11, 13)}${at.slice(14, 16)}${at.slice(17, 19)}${at.slice(20, 23)}`
    : at.replace(/[-:.Z]/g, '').replace('T', '-');
