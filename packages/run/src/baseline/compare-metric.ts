import type { MetricComparison } from '@agentci/results';
import type { Interval } from '@agentci/stats';
import {
  mcnemar,
  mean,
  type PairedVerdicts,
  pairedDifference,
  pairedRateAt,
  pairedRateInterval,
  signFlipTest,
  variance,
} from '@agentci/stats';
import { metricDelta } from './metric-delta.ts';
import { neededPairs } from './needed-pairs.ts';

/** Minimum number of queries for a verdict. */
export const MIN_PAIRS = 10;
/** Minimum number of flips in one direction that can be significant at 5 %. */
const LEAST_FLIPS = 5;

/**
 * One query on both sides: the mean over its repeats, and whether each side is a single verdict.
 */
export interface Pair {
  readonly before: number;
  readonly after: number;
}

export interface MetricInput {
  readonly metric: string;
  readonly better: 'higher' | 'lower';
  readonly pairs: readonly Pair[];
  /** Number of queries the pairs come from. */
  readonly queries: number;
  /** Whether the values are pass rates. */
  readonly isRate: boolean;
  /** One verdict per query on each side: 0 or 1, never a mean. */
  readonly isVerdict: boolean;
  readonly maxDrop: number;
  readonly level: number;
  readonly seed: number;
  /** Number of comparisons that share the significance level. */
  readonly tests: number;
}

/** The comparison of one metric, before correction for testing several. */
export type Measured = Omit<MetricComparison, 'p_adjusted' | 'verdict' | 'severity'>;

/**
 * Compares one metric over pairs of queries. Repeats are averaged per query first, because they are
 * not independent queries. Verdicts get the interval and the test for binary data.
 */
export function measure(input: MetricInput): Measured {
  const { metric, better, pairs, isVerdict, isRate, maxDrop } = input;
  const [worse, good] =
    better === 'higher' ? (['before', 'after'] as const) : (['after', 'before'] as const);
  const losses = pairs.map((pair) => pair[worse] - pair[good]);
  const before = mean(pairs.map((pair) => pair.before)) ?? 0;
  const after = mean(pairs.map((pair) => pair.after)) ?? 0;
  const table = isRate ? verdictTable(pairs) : undefined;
  const spread = spreadOf(input, losses, table);
  // If any loss counts, the test alone decides. It is exact for any number of verdicts.
  const isExact = isRate && maxDrop === 0;
  const identical = losses.every((loss) => loss === 0);
  let reason: Measured['reason'];
  if (identical) reason = 'identical';
  else if (before === 0) reason = 'zero_baseline';
  else if (!isExact && pairs.length < MIN_PAIRS) reason = 'too_few_pairs';
  else reason = undefined;
  const test = isVerdict ? 'mcnemar' : 'sign_flip';
  const middle = mean(losses) ?? 0;
  return {
    metric,
    better,
    pairs: pairs.length,
    queries: input.queries,
    before_mean: before,
    after_mean: after,
    pct_change: metricDelta(before, after).pct_change,
    damage: { mean: middle, low: spread?.low ?? null, high: spread?.high ?? null },
    max_drop: maxDrop,
    test,
    p:
      isVerdict && table
        ? mcnemar({ b: table.passToFail, c: table.failToPass }).midP
        : (signFlipTest(losses, { seed: input.seed }) ?? 1),
    needed_pairs: neededPairs({
      mean: middle,
      variance: variance(losses) ?? 0,
      margin: maxDrop,
      alpha: 1 - input.level,
      tests: input.tests,
      least: isExact ? LEAST_FLIPS : MIN_PAIRS,
      table: isVerdict ? table : undefined,
    }),
    reason,
  };
}

/** Interval of the mean loss. Queries are the units: repeats of one query add no certainty. */
function spreadOf(
  { pairs, better, isVerdict, level }: MetricInput,
  losses: readonly number[],
  table: PairedVerdicts | undefined,
): Interval | null {
  if (table !== undefined && isVerdict) return pairedRateInterval(table, { level });
  // Equal shifts have no variance, but a few of them still prove little.
  if (table !== undefined && losses.every((loss) => loss === losses[0]))
    return pairedRateAt(table, level);
  const [first, second] =
    better === 'higher' ? (['before', 'after'] as const) : (['after', 'before'] as const);
  const { low, high } = pairedDifference(
    pairs.map((pair) => pair[first]),
    pairs.map((pair) => pair[second]),
    { level },
  );
  if (low === null || high === null) return null;
  // Two or three equal shifts do not show how much other queries would move.
  if (low === high && losses[0] !== 0 && losses.length < MIN_PAIRS) return null;
  return table === undefined ? { low, high } : { low: Math.max(-1, low), high: Math.min(1, high) };
}

/** A query with several runs counts fractionally. */
function verdictTable(pairs: readonly Pair[]): PairedVerdicts {
  const table = { bothPass: 0, passToFail: 0, failToPass: 0, bothFail: 0 };
  for (const { before, after } of pairs) {
    table.bothPass += Math.min(before, after);
    table.passToFail += Math.max(0, before - after);
    table.failToPass += Math.max(0, after - before);
    table.bothFail += 1 - Math.max(before, after);
  }
  return table;
}
