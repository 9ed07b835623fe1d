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

/** Fewer queries than this settle nothing. */
export const MIN_PAIRS = 10;
/** Flips of one kind that the tests need to say anything at 5 %. */
const LEAST_FLIPS = 5;

/** One query on both sides: the mean over its repeats, and whether each was a single verdict. */
export interface Pair {
  readonly before: number;
  readonly after: number;
}

export interface MetricInput {
  readonly metric: string;
  readonly better: 'higher' | 'lower';
  readonly pairs: readonly Pair[];
  /** That the pairs belong to. */
  readonly queries: number;
  /** Whether the numbers are shares of runs that passed. */
  readonly isRate: boolean;
  /** One verdict per query on each side: 0 or 1, nothing between. */
  readonly isVerdict: boolean;
  readonly maxDrop: number;
  readonly level: number;
  readonly seed: number;
  /** Comparisons that share the level. */
  readonly tests: number;
}

/** What is measured before several metrics are looked at together. */
export type Measured = Omit<MetricComparison, 'p_adjusted' | 'verdict' | 'severity'>;

/**
 * Measures one metric over pairs of queries. Repeats were averaged per query before, so that they do not count as queries of
 * their own; verdicts get the interval and the test that suit them.
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
  // Where any loss counts the test alone decides, and it is exact for any number of verdicts.
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

/** Of the mean loss. Queries are the units: what repeats of one query say again makes nothing more certain. */
function spreadOf(
  { pairs, better, isVerdict, level }: MetricInput,
  losses: readonly number[],
  table: PairedVerdicts | undefined,
): Interval | null {
  if (table !== undefined && isVerdict) return pairedRateInterval(table, { level });
  // Shares that all moved alike have no spread, and few of them still prove little.
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
  // Two or three that moved alike do not tell how much others would.
  if (low === high && losses[0] !== 0 && losses.length < MIN_PAIRS) return null;
  return table === undefined ? { low, high } : { low: Math.max(-1, low), high: Math.min(1, high) };
}

/** A query with several runs counts in parts. */
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
