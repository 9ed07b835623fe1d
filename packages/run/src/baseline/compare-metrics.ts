import type { ComparisonVerdict, MetricComparison } from '@agentci/results';
import { DEFAULT_LEVEL, holm } from '@agentci/stats';
import { type Measured, MIN_PAIRS, measure, type Pair } from './compare-metric.ts';
import { betterSide, severityOf, thresholdPercent } from './regression-thresholds.ts';

/**
 * The measurements of one query on one side: every decided verdict and every value of every metric.
 */
export interface Observation {
  /** 1 for a run that passed, 0 for one that failed. */
  readonly verdicts: readonly number[];
  /** The same by run number, undefined for an undecided run. Used to pair by query and run. */
  readonly runs?: readonly (number | undefined)[];
  readonly metrics: ReadonlyMap<string, readonly number[]>;
}

export interface CompareOptions {
  /** Maximum loss per metric, in the unit of the metric. Default: a percentage of the baseline. */
  readonly maxDrop?: Readonly<Record<string, number>>;
  /** One percentage for every metric instead of the defaults. */
  readonly maxRegressionPercent?: number;
  readonly better?: Readonly<Record<string, 'higher' | 'lower'>>;
  readonly level?: number;
  readonly seed?: number;
  /**
   * Pairs verdicts by query and run. By default repeats are averaged, because they are not
   * independent queries.
   */
  readonly byRun?: boolean;
}

const PASS_RATE = 'pass_rate';

/** Options for comparing cells of one matrix: run by run, and any loss of the pass rate counts. */
export const OF_CELLS = {
  maxDrop: { [PASS_RATE]: 0 },
  byRun: true,
} as const satisfies CompareOptions;

/**
 * Compares every metric that both sides have: verdicts first, then by name. Corrects for testing
 * several metrics. Between cells the pass rate is the main question and is tested by itself.
 */
export function compareMetrics(
  before: ReadonlyMap<string, Observation>,
  after: ReadonlyMap<string, Observation>,
  options: CompareOptions = {},
): MetricComparison[] {
  const level = options.level ?? DEFAULT_LEVEL;
  const measured: Measured[] = [];
  const paired = pairedMetrics(before, after, options.byRun ?? false);
  const isAlone = (metric: string): boolean => metric === PASS_RATE && options.byRun === true;
  const together = paired.filter(({ metric }) => !isAlone(metric)).length;
  for (const { metric, pairs, queries, isVerdict } of paired) {
    const isRate = metric === PASS_RATE;
    const base = Math.abs(pairs.reduce((sum, pair) => sum + pair.before, 0) / pairs.length);
    const percent = options.maxRegressionPercent ?? thresholdPercent(metric);
    measured.push(
      measure({
        metric,
        better: own(options.better, metric) ?? betterSide(metric),
        pairs,
        queries: queries.size,
        isRate,
        isVerdict,
        tests: isAlone(metric) ? 1 : together,
        maxDrop: own(options.maxDrop, metric) ?? (base * percent) / 100,
        level,
        seed: options.seed ?? 0,
      }),
    );
  }
  const corrected = holm(measured.flatMap(({ metric, p }) => (isAlone(metric) ? [] : [p])));
  return measured.map((one) =>
    decided(one, isAlone(one.metric) ? one.p : corrected.shift()!, 1 - level),
  );
}

const own = <T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;

function decided(one: Measured, adjusted: number, alpha: number): MetricComparison {
  const verdict = verdictOf(one, adjusted, alpha);
  const { needed_pairs, ...rest } = one;
  const isNear =
    verdict === 'inconclusive' && one.pairs >= MIN_PAIRS && isShownWorse(one, adjusted, alpha);
  return {
    ...rest,
    reason: isNear ? ('near_limit' as const) : rest.reason,
    p_adjusted: adjusted,
    verdict,
    needed_pairs: verdict === 'inconclusive' ? needed_pairs : null,
    severity:
      verdict === 'worse' && one.max_drop > 0
        ? severityOf(one.damage.mean / one.max_drop)
        : undefined,
  };
}

/**
 * Worse: the whole interval is beyond the allowed loss, and chance is ruled out. Better: the whole
 * interval is a gain, and chance is ruled out. No difference: the whole interval is within the
 * allowed loss either way, unless all of it is a significant loss. Otherwise inconclusive.
 */
function verdictOf(one: Measured, p: number, alpha: number): ComparisonVerdict {
  const { metric, damage, max_drop, pairs, reason } = one;
  const isRate = metric === PASS_RATE;
  // The same number in every query counts as equal. The same verdicts of a few queries may still
  // hide a different rate.
  if (reason === 'identical' && !isRate) return 'no_difference';
  if (
    (!(isRate && max_drop === 0) && pairs < MIN_PAIRS) ||
    damage.low === null ||
    damage.high === null
  )
    return 'inconclusive';
  // If no loss is allowed, the test of the verdicts decides alone.
  if (isRate && max_drop === 0) {
    if (p > alpha || damage.mean === 0) return 'inconclusive';
    if (damage.mean > 0) return 'worse';
    return 'better';
  }
  if (damage.low > max_drop) return p <= alpha ? 'worse' : 'inconclusive';
  if (damage.high < 0 && p <= alpha) return 'better';
  if (damage.low < -max_drop || damage.high > max_drop) return 'inconclusive';
  return isShownWorse(one, p, alpha) ? 'worse_within_limit' : 'no_difference';
}

/** Chance does not explain the loss, however much of it is allowed. */
const isShownWorse = ({ damage }: Measured, p: number, alpha: number): boolean =>
  damage.low !== null && damage.low > 0 && p <= alpha;

interface Paired {
  readonly metric: string;
  readonly pairs: Pair[];
  readonly queries: Set<string>;
  isVerdict: boolean;
}

function pairedMetrics(
  before: ReadonlyMap<string, Observation>,
  after: ReadonlyMap<string, Observation>,
  byRun: boolean,
): Paired[] {
  const found = new Map<string, Paired>();
  const add = (
    id: string,
    metric: string,
    a: readonly number[] | undefined,
    b: readonly number[] | undefined,
    isVerdict: boolean,
  ) => {
    if (a === undefined || b === undefined || a.length === 0 || b.length === 0) return;
    const entry = found.get(metric) ?? { metric, pairs: [], queries: new Set(), isVerdict };
    entry.queries.add(id);
    entry.pairs.push({ before: average(a), after: average(b) });
    entry.isVerdict &&= a.length === 1 && b.length === 1;
    found.set(metric, entry);
  };
  for (const [id, a] of before) {
    const b = after.get(id);
    if (b === undefined) continue;
    const [first, second] = [a.runs ?? a.verdicts, b.runs ?? b.verdicts];
    if (!byRun) add(id, PASS_RATE, a.verdicts, b.verdicts, true);
    else
      for (const [run, verdict] of first.entries()) {
        const other = second[run];
        if (verdict !== undefined && other !== undefined)
          add(id, PASS_RATE, [verdict], [other], true);
      }
    for (const [metric, values] of a.metrics) add(id, metric, values, b.metrics.get(metric), false);
  }
  const names = [...found.keys()].filter((name) => name !== PASS_RATE).sort();
  return [PASS_RATE, ...names].flatMap((name) => found.get(name) ?? []);
}

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
