import {
  DEFAULT_LEVEL,
  holm,
  type Interval,
  mean,
  spreadOf,
  studentQuantile,
  welchT,
} from '@agentci/stats';

export const CHANGE_METRICS = ['cost_usd', 'latency_ms', 'total_tokens'] as const;
export type ChangeMetric = (typeof CHANGE_METRICS)[number];

/** The values of one query on one side: one for each run that has the metric. */
export type QueryValues = Readonly<Record<ChangeMetric, readonly number[]>>;

/** The change of one metric of one query. */
export interface QueryChange {
  readonly id: string;
  readonly metric: ChangeMetric;
  readonly before: number;
  readonly after: number;
  /** After minus before. */
  readonly difference: number;
  /** 95 % interval of the difference. `null` if a side has too few runs to estimate its noise. */
  readonly interval: Interval | null;
  /** `unknown`: too few runs. `noise`: the repeats differ by as much as the sides. */
  readonly verdict: 'more' | 'less' | 'noise' | 'unknown';
}

/** Equal values prove that there is no noise only from this many runs. */
const MIN_ALIKE = 3;

/**
 * Finds changes per query beyond the noise of its repeats. Uses Welch's interval of the difference,
 * with Holm's correction for testing every query: without it, some of many unchanged queries would
 * look changed by chance.
 */
export function queryChanges(
  before: ReadonlyMap<string, QueryValues>,
  after: ReadonlyMap<string, QueryValues>,
): QueryChange[] {
  const found: (Omit<QueryChange, 'verdict'> & { p: number | null })[] = [];
  for (const [id, was] of before) {
    const is = after.get(id);
    if (is === undefined) continue;
    for (const metric of CHANGE_METRICS) {
      const [a, b] = [was[metric], is[metric]];
      const [from, to] = [mean(a), mean(b)];
      if (from === null || to === null || from === to) continue;
      found.push({
        id,
        metric,
        before: from,
        after: to,
        difference: to - from,
        ...spreadOfChange(a, b),
      });
    }
  }
  const tested = found.filter(({ p }) => p !== null);
  const adjusted = new Map(holm(tested.map(({ p }) => p!)).map((p, i) => [tested[i]!, p]));
  return found.map((change) => {
    const { p: _, ...rest } = change;
    return { ...rest, verdict: verdictOf(change, adjusted.get(change)) };
  });
}

function verdictOf(
  { difference, interval }: Pick<QueryChange, 'difference' | 'interval'>,
  p: number | undefined,
) {
  if (interval === null) return 'unknown';
  if (p !== undefined && p > 1 - DEFAULT_LEVEL) return 'noise';
  return difference > 0 ? 'more' : 'less';
}

function spreadOfChange(
  a: readonly number[],
  b: readonly number[],
): { interval: Interval | null; p: number | null } {
  const { df, p } = welchT(a, b);
  const difference = mean(b)! - mean(a)!;
  if (df === null || p === null) {
    const isSteady = a.length >= MIN_ALIKE && b.length >= MIN_ALIKE;
    return { interval: isSteady ? { low: difference, high: difference } : null, p: null };
  }
  const half =
    studentQuantile(DEFAULT_LEVEL, df) * Math.sqrt(spreadOf(a) / a.length + spreadOf(b) / b.length);
  return { interval: { low: difference - half, high: difference + half }, p };
}
