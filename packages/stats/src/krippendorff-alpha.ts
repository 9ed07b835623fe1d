import { requireNumber } from './sample.ts';

export type RatingLevel = 'nominal' | 'ordinal' | 'interval';

/** One row per rater, one column per item. Null or undefined: no rating. */
export type Ratings = readonly (readonly (number | string | boolean | null | undefined)[])[];

/**
 * Agreement of any number of raters, with gaps: 1 − D_o / D_e. Null if no item has two ratings or
 * all ratings are equal, because then there is nothing to disagree about.
 */
export function krippendorffAlpha(
  ratings: Ratings,
  { level }: { readonly level: RatingLevel },
): number | null {
  if (level !== 'nominal' && level !== 'ordinal' && level !== 'interval')
    throw new RangeError(`a level is nominal, ordinal or interval, not ${String(level)}`);
  const units = unitsOf(ratings);
  const all = units.flat();
  if (all.length < 2) return null;
  const delta = deltaOf(level, all);
  let within = 0;
  for (const unit of units) within += delta(unit) / (unit.length - 1);
  const observed = within / all.length;
  const expected = delta(all) / (all.length * (all.length - 1));
  return expected > 0 ? 1 - observed / expected : null;
}

type Rating = number | string | boolean;

/** The ratings of each item with at least two. */
function unitsOf(ratings: Ratings): Rating[][] {
  const items = Math.max(0, ...ratings.map((row) => row.length));
  const units: Rating[][] = [];
  for (let item = 0; item < items; item++) {
    const unit: Rating[] = [];
    for (const row of ratings) {
      const rating = row[item];
      if (typeof rating === 'number') requireNumber(rating, 'a rating');
      if (rating !== null && rating !== undefined) unit.push(rating);
    }
    if (unit.length > 1) units.push(unit);
  }
  return units;
}

/** Sum of the distances over all ordered pairs. */
function deltaOf(level: RatingLevel, all: readonly Rating[]): (list: readonly Rating[]) => number {
  switch (level) {
    case 'nominal':
      return (list) =>
        list.length ** 2 -
        [...counts(list).values()].reduce((sum, count) => sum + count * count, 0);
    case 'interval':
      return (list) => spread(list.map(numeric));
    case 'ordinal': {
      const places = midpoints(all.map(numeric));
      return (list) => spread(list.map((rating) => places.get(numeric(rating))!));
    }
  }
}

const numeric = (rating: Rating): number => {
  const value = typeof rating === 'boolean' ? Number(rating) : rating;
  if (typeof value !== 'number')
    throw new RangeError(`"${rating}" is not a number; use the nominal level`);
  return value;
};

/** 2·n·Σ(x − x̄)², which is the sum of squared distances over all ordered pairs. */
function spread(values: readonly number[]): number {
  const middle = values.reduce((sum, value) => sum + value, 0) / values.length;
  return 2 * values.length * values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
}

/** The rank of each value among all ratings: the number below it plus half of its ties. */
function midpoints(values: readonly number[]): Map<number, number> {
  const places = new Map<number, number>();
  let below = 0;
  for (const [value, count] of [...counts(values)].sort(([a], [b]) => a - b)) {
    places.set(value, below + count / 2);
    below += count;
  }
  return places;
}

function counts<T>(list: readonly T[]): Map<T, number> {
  const found = new Map<T, number>();
  for (const item of list) found.set(item, (found.get(item) ?? 0) + 1);
  return found;
}
