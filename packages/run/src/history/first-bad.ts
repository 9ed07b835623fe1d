import type { TrendPoint } from './trend.ts';

/** The run in which a query began to fail, or the reason why it is unknown. */
export type FirstBad =
  | { readonly verdict: 'never_run' | 'never_decided' }
  /** It passes now. `last` is the last run in which it did not. */
  | { readonly verdict: 'good'; readonly last?: TrendPoint }
  /** It passed in the newest readable run, and a newer run exists. */
  | { readonly verdict: 'unknown'; readonly good: TrendPoint }
  /** It fails. `expected` if the spec expected it in the newest run (`xfail`). */
  | {
      readonly verdict: 'bad' | 'expected';
      readonly first: TrendPoint;
      /** Absent if no earlier run passed. */
      readonly good?: TrendPoint;
      /** Number of undecided runs between the two. */
      readonly undecided: number;
      /** Number of consecutive failed runs. */
      readonly runs: number;
      /**
       * Number of earlier verdict changes. If a query is flaky, the first bad run may be chance.
       */
      readonly flips: number;
    };

/** Finds the run in which a query began to fail. An expected failure counts as a failure. */
export function findFirstBad(
  points: readonly TrendPoint[],
  { isNewestUnread = false }: { readonly isNewestUnread?: boolean } = {},
): FirstBad {
  if (points.length === 0) return { verdict: 'never_run' };
  const decided = points.filter((point) => point.decided > 0);
  const newest = decided.at(-1);
  if (newest === undefined) return { verdict: 'never_decided' };
  const isGood = ({ passed, decided: all, status }: TrendPoint): boolean =>
    status === undefined ? passed === all : status !== 'fail' && !isExpected({ status });
  if (isGood(newest)) {
    if (isNewestUnread) return { verdict: 'unknown', good: newest };
    const last = decided.findLast((point) => !isGood(point));
    return { verdict: 'good', last };
  }
  const lastGood = decided.findLastIndex(isGood);
  const first = decided[lastGood + 1]!;
  const good = decided[lastGood];
  const flips = decided
    .slice(0, lastGood + 1)
    .filter((point, at) => at > 0 && isGood(point) !== isGood(decided[at - 1]!));
  return {
    verdict: isExpected(newest) ? 'expected' : 'bad',
    first,
    good,
    undecided: good === undefined ? 0 : points.indexOf(first) - points.indexOf(good) - 1,
    runs: decided.length - lastGood - 1,
    flips: flips.length,
  };
}

/**
 * Only for a decided query: a skipped query is never decided, so "decided and skipped" means that
 * it failed as expected.
 */
const isExpected = ({ status }: Pick<TrendPoint, 'status'>): boolean => status === 'skip';
