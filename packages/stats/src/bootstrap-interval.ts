import { mean, quantileOfSorted } from './descriptive.ts';
import { type Interval, type IntervalOptions, levelOf, requireSameLength } from './interval.ts';
import { normalCdf, normalQuantile } from './normal.ts';
import { requireNumber, requireNumbers } from './sample.ts';
import { seededRandom } from './seeded-random.ts';

export interface BootstrapOptions extends IntervalOptions {
  /** The statistic to estimate. Default: the mean. */
  readonly statistic?: (values: readonly number[]) => number;
  /** Number of resamples. Default: 2000. */
  readonly samples?: number;
  /** Stored with the result, to reproduce it. */
  readonly seed: number;
  /** Values with the same cluster are drawn together, as repeats of one query must be. */
  readonly clusters?: readonly unknown[];
  /** `bca` corrects for bias and skew; `percentile` is the default. */
  readonly method?: 'percentile' | 'bca';
}

const DEFAULT_SAMPLES = 2000;

/** Interval of any statistic, by resampling. Null for fewer than two values or clusters. */
export function bootstrapInterval(
  values: readonly number[],
  options: BootstrapOptions,
): Interval | null {
  const level = levelOf(options);
  requireNumbers(values);
  requireNumber(options.seed, 'the seed');
  requireNumber(options.samples ?? DEFAULT_SAMPLES, 'the number of samples', { min: 1 });
  const statistic = options.statistic ?? ((sample: readonly number[]) => mean(sample)!);
  const units = unitsOf(values, options.clusters);
  if (units.length < 2) return null;
  const random = seededRandom(options.seed);
  const samples = Math.max(1, Math.floor(options.samples ?? DEFAULT_SAMPLES));
  const estimates = new Float64Array(samples);
  for (let i = 0; i < samples; i++) estimates[i] = statistic(draw(units, random));
  estimates.sort();
  const tail = (1 - level) / 2;
  const [low, high] =
    options.method === 'bca'
      ? corrected({ values, units, estimates, statistic, tail })
      : [tail, 1 - tail];
  return { low: quantileOfSorted(estimates, low), high: quantileOfSorted(estimates, high) };
}

type Units = readonly (readonly number[])[];

function unitsOf(values: readonly number[], clusters: readonly unknown[] | undefined): Units {
  if (clusters === undefined) return values.map((value) => [value]);
  requireSameLength(values, clusters, 'values and clusters');
  const groups = new Map<unknown, number[]>();
  for (const [i, value] of values.entries()) {
    const group = groups.get(clusters[i]);
    if (group) group.push(value);
    else groups.set(clusters[i], [value]);
  }
  return [...groups.values()];
}

function draw(units: Units, random: () => number): number[] {
  const sample: number[] = [];
  for (let i = 0; i < units.length; i++) {
    for (const value of units[Math.floor(random() * units.length)]!) sample.push(value);
  }
  return sample;
}

/** The percentiles that BCa uses instead of the plain tails (Efron 1987). */
function corrected(input: {
  values: readonly number[];
  units: Units;
  estimates: Float64Array;
  statistic: (values: readonly number[]) => number;
  tail: number;
}): [number, number] {
  const { values, units, estimates, statistic, tail } = input;
  const observed = statistic(values);
  let below = 0;
  for (const estimate of estimates) {
    if (estimate < observed) below += 1;
    else if (estimate === observed) below += 0.5;
  }
  const share = Math.min(
    1 - 1 / (2 * estimates.length),
    Math.max(1 / (2 * estimates.length), below / estimates.length),
  );
  const bias = normalQuantile(share);
  const left = units.map((_, out) =>
    statistic(units.flatMap((unit, i) => (i === out ? [] : unit))),
  );
  const centre = mean(left)!;
  let cubes = 0;
  let squares = 0;
  for (const value of left) {
    cubes += (centre - value) ** 3;
    squares += (centre - value) ** 2;
  }
  const skew = squares > 0 ? cubes / (6 * squares ** 1.5) : 0;
  const moved = (z: number) => normalCdf(bias + (bias + z) / (1 - skew * (bias + z)));
  return [moved(normalQuantile(tail)), moved(normalQuantile(1 - tail))];
}
