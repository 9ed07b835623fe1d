import { defined } from '../kit/defined.ts';
import type { MetricComparison } from '../results/diff.ts';
import { mean, variance } from '../stats/descriptive.ts';
import { mcnemar } from '../stats/mcnemar.ts';
import { pairedDifference } from '../stats/paired-difference.ts';
import { pairedRateInterval } from '../stats/paired-rate-interval.ts';
import { requiredSampleSize } from '../stats/sample-size.ts';
import { signFlipTest } from '../stats/sign-flip-test.ts';
import { metricDelta } from './metric-delta.ts';

/** Fewer queries than this settle nothing, whatever their numbers look like. */
export const MIN_PAIRS = 10;

/** One query on both sides: the mean over its repeats, and whether each was a single verdict. */
export interface Pair {
  readonly before: number;
  readonly after: number;
}

export interface MetricInput {
  readonly metric: string;
  readonly better: 'higher' | 'lower';
  readonly pairs: readonly Pair[];
  /** One verdict per query on each side: 0 or 1, nothing between. */
  readonly isVerdict: boolean;
  readonly maxDrop: number;
  readonly level: number;
  readonly seed: number;
}

/** What is measured before several metrics are looked at together. */
export type Measured = Omit<MetricComparison, 'p_adjusted' | 'verdict' | 'severity'>;

/**
 * Measures one metric over pairs of queries. Repeats were averaged per query before, so that they do not count as queries of
 * their own; verdicts get the interval and the test that suit them.
 */
export function measure(input: MetricInput): Measured {
  const { metric, better, pairs, isVerdict, maxDrop } = input;
  const [worse, good] = better === 'higher' ? (['before', 'after'] as const) : (['after', 'before'] as const);
  const losses = pairs.map((pair) => pair[worse] - pair[good]);
  const before = mean(pairs.map((pair) => pair.before)) ?? 0;
  const after = mean(pairs.map((pair) => pair.after)) ?? 0;
  const table = isVerdict ? verdictTable(pairs) : undefined;
  const spread = table
    ? pairedRateInterval(table, { level: input.level })
    : pairedDifference(
        pairs.map((pair) => pair[worse]),
        pairs.map((pair) => pair[good]),
        { level: input.level },
      );
  const identical = losses.every((loss) => loss === 0);
  const reason: Measured['reason'] = identical
    ? 'identical'
    : before === 0
      ? 'zero_baseline'
      : pairs.length < MIN_PAIRS
        ? 'too_few_pairs'
        : undefined;
  return {
    metric,
    better,
    pairs: pairs.length,
    before_mean: before,
    after_mean: after,
    pct_change: metricDelta(before, after).pct_change,
    damage: { mean: mean(losses) ?? 0, low: spread?.low ?? null, high: spread?.high ?? null },
    max_drop: maxDrop,
    test: isVerdict ? 'mcnemar' : 'sign_flip',
    p: table
      ? mcnemar({ b: table.passToFail, c: table.failToPass }).midP
      : (signFlipTest(losses, { seed: input.seed }) ?? 1),
    needed_pairs: neededPairs(losses, maxDrop),
    ...defined({ reason }),
  };
}

function verdictTable(pairs: readonly Pair[]) {
  const table = { bothPass: 0, passToFail: 0, failToPass: 0, bothFail: 0 };
  for (const { before, after } of pairs) {
    table[before === 1 ? (after === 1 ? 'bothPass' : 'passToFail') : after === 1 ? 'failToPass' : 'bothFail']++;
  }
  return table;
}

/** Queries that would show a loss of the size that matters: the allowed one, else the one seen. */
function neededPairs(losses: readonly number[], maxDrop: number): number | null {
  const square = variance(losses);
  if (square === null || square === 0) return losses.length < MIN_PAIRS ? MIN_PAIRS : null;
  const needed = requiredSampleSize({ effect: maxDrop > 0 ? maxDrop : (mean(losses) ?? 0), variance: square });
  return needed === null ? null : Math.max(MIN_PAIRS, needed);
}
