import { quantile } from './descriptive.ts';
import { normalQuantile } from './normal.ts';
import { studentTwoSided } from './student-t.ts';

/** Shifts of this many standard deviations are found fastest. */
const SLACK = 0.5;
/** In standard deviations. With the slack above, both directions together raise a false alarm about every 465 values. */
const THRESHOLD = 5;

/** Mean number of values between false alarms, from simulation with independent normal values. */
export const CUSUM_FALSE_ALARM_EVERY = 750;
/** Fewer values than this are not enough to decide. */
export const CUSUM_MIN = 10;

export interface Shift {
  /** The first value of the level before. */
  readonly start: number;
  /** The first value after the change, as far as can be told. */
  readonly from: number;
  /** The value at which the change was certain enough. */
  readonly found: number;
  readonly direction: 'up' | 'down';
}

/**
 * Finds the last lasting change of a level with a self-starting CUSUM: each value is compared with
 * the ones before it, so no baseline is needed. Null if nothing changed; undefined for fewer than
 * `CUSUM_MIN` values. After an alarm it restarts. If a few outliers caused the alarm, they are
 * removed and the search runs again.
 */
export function findShift(values: readonly number[]): Shift | null | undefined {
  if (values.length < CUSUM_MIN) return undefined;
  let kept = values.map((value, at) => ({ value, at }));
  let shift: Shift | null = null;
  let start = 0;
  for (;;) {
    const level = kept.map(({ value }) => value);
    const next = firstShift(level, start);
    if (next === null || level.length - next.from < LASTING_MIN) return shift;
    if (isLasting(level, next)) {
      const [first, from, found] = [next.start, next.from, next.found].map(
        (at) => kept[at]!.at,
      ) as [number, number, number];
      shift = { ...next, start: first, from, found };
      start = next.from;
    } else kept = kept.filter((_, at) => at < next.from || at > next.found);
  }
}

/** Minimum values on the new level. Fewer may be outliers. */
const LASTING_MIN = 3;
/**
 * Most of this many values after a change are on the new level. Three outliers in a row are not
 * most.
 */
const LASTING_SEEN = 7;

/**
 * Checks that most values after a change (the ones that raised the alarm, and twice as many) are
 * off the old level. Compares medians, which outliers do not move, with a threshold at a third of
 * the shift.
 */
function isLasting(values: readonly number[], { start, from, found, direction }: Shift): boolean {
  const alarming = found - from + 1;
  const before = quantile(values.slice(start, from), 0.5)!;
  const alarm = quantile(values.slice(from, found + 1), 0.5)!;
  const since = quantile(values.slice(from, from + Math.max(LASTING_SEEN, 3 * alarming)), 0.5)!;
  const limit = before + (alarm - before) / 3;
  return direction === 'up' ? since > limit : since < limit;
}

function firstShift(values: readonly number[], start: number): Shift | null {
  let n = 0;
  let mean = 0;
  let squares = 0;
  const up = { sum: 0 };
  const down = { sum: 0 };
  for (let at = start; at < values.length; at++) {
    const value = values[at]!;
    if (n >= 3) {
      const z = zScore(value, { n, mean, squares });
      for (const [side, step, direction] of [
        [up, z, 'up'],
        [down, -z, 'down'],
      ] as const) {
        side.sum = Math.max(0, side.sum + step - SLACK);
        if (side.sum > THRESHOLD)
          return { start, from: bestSplit(values, start, at), found: at, direction };
      }
    }
    n++;
    const delta = value - mean;
    mean += delta / n;
    squares += delta * (value - mean);
  }
  return null;
}

/**
 * The split that best explains the values up to an alarm: the largest difference of means, weighted
 * by the sizes of both sides.
 */
function bestSplit(values: readonly number[], start: number, found: number): number {
  let total = 0;
  for (let at = start; at <= found; at++) total += values[at]!;
  const n = found - start + 1;
  let best = { at: found, gain: -1 };
  let sum = 0;
  for (let at = start + 1; at <= found; at++) {
    sum += values[at - 1]!;
    const before = at - start;
    const gap = (total - sum) / (n - before) - sum / before;
    const gain = ((before * (n - before)) / n) * gap * gap;
    if (gain > best.gain) best = { at, gain };
  }
  return best.at;
}

/**
 * The value as a standard normal one, given the values before it. If those are all equal, any
 * different value is far away.
 */
function zScore(
  value: number,
  { n, mean, squares }: { n: number; mean: number; squares: number },
): number {
  const sd = Math.sqrt(squares / (n - 1));
  if (sd <= 1e-12 * Math.max(1, Math.abs(mean))) {
    if (Math.abs(value - mean) <= 1e-9 * Math.max(1, Math.abs(mean))) return 0;
    if (value > mean) return 4;
    return -4;
  }
  const t = Math.sqrt(n / (n + 1)) * ((value - mean) / sd);
  const tail = Math.max(1e-9, studentTwoSided(t, n - 1) / 2);
  return t < 0 ? normalQuantile(tail) : -normalQuantile(tail);
}
