import type { TrendPoint } from './trend.ts';

/** Since when a query fails, or why that cannot be said. */
export type FirstBad =
  | { readonly verdict: 'never_run' | 'never_decided' }
  /** It passes now; `last` is the last run in which it did not. */
  | { readonly verdict: 'good'; readonly last?: TrendPoint }
  /** It passed in the newest run that can be read, and there is a newer one. */
  | { readonly verdict: 'unknown'; readonly good: TrendPoint }
  /** It fails; `expected` where the spec said so in the newest run (`xfail`). */
  | {
      readonly verdict: 'bad' | 'expected';
      readonly first: TrendPoint;
      /** Absent where no run before it passed. */
      readonly good?: TrendPoint;
      /** Runs between the two in which it was not decided. */
      readonly undecided: number;
      /** Runs in a row in which it failed. */
      readonly runs: number;
      /** Changes of its verdict before: of a flaky query the first bad run may be chance. */
      readonly flips: number;
    };

/** Looks for the run in which a query began to fail. A failure that is expected is a failure all the same. */
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

/** Of a query that was decided: one that the spec leaves out is not, so what was decided and skipped failed as expected. */
const isExpected = ({ status }: Pick<TrendPoint, 'status'>): boolean => status === 'skip';
