import type { CheckStatus } from '@agentci/results';
import type { Interval } from '@agentci/stats';
import {
  CUSUM_FALSE_ALARM_EVERY,
  CUSUM_MIN,
  findShift,
  quantile,
  wilsonInterval,
} from '@agentci/stats';
import type { AgentRun } from './agent-runs.ts';
import type { HistoryQuery, HistoryRun } from './history-run.ts';

/** A run as a point of a trend. */
export interface TrendPoint {
  readonly run: string;
  readonly at: string;
  readonly commit?: string;
  readonly branch?: string;
  readonly passed: number;
  readonly decided: number;
  readonly rate: number | null;
  /** Wilson's 95 % interval of the rate. */
  readonly interval: Interval | null;
  readonly usd: number | null;
  readonly ms: number | null;
  /** Only for a query. A suite has counts. */
  readonly status?: CheckStatus;
}

/** A lasting change of a number, or the reason why none can be detected. */
export type Drift =
  | { readonly of: 'cost' | 'latency'; readonly verdict: 'steady' }
  | {
      readonly of: 'cost' | 'latency';
      readonly verdict: 'too_few_runs';
      readonly runs: number;
      readonly needed: number;
    }
  | {
      readonly of: 'cost' | 'latency';
      readonly verdict: 'up' | 'down';
      readonly since: string;
      readonly at: string;
      /** Median of the runs before the change, and of the runs since. */
      readonly before: number;
      readonly after: number;
    };

export interface Trend {
  readonly points: readonly TrendPoint[];
  readonly drifts: readonly Drift[];
  /** A false alarm is expected once in this many runs. */
  readonly false_alarm_every: number;
}

/**
 * The results of the whole suite, run by run. Skips runs of some queries, because they do not
 * describe the whole.
 */
export function suiteTrend(runs: readonly AgentRun[]): Trend {
  const points = runs
    .map(({ run }) => run)
    .filter((run) => !run.part)
    .map((run): TrendPoint => {
      const decided = run.passed + run.failed;
      const judged = run.total - run.skipped;
      return {
        ...placeOf(run),
        passed: run.passed,
        decided,
        rate: decided === 0 ? null : run.passed / decided,
        interval: wilsonInterval(run.passed, decided),
        // Per query, so that a growing suite does not look like a more expensive one.
        usd: run.usd === null || judged === 0 || run.unpriced > 0 ? null : run.usd / judged,
        ms: run.p50_ms,
      };
    });
  return withDrifts(points);
}

/** A run with its result for one case. */
export interface CaseInRun {
  readonly run: HistoryRun;
  /** Undefined if the run did not contain it. */
  readonly query: HistoryQuery | undefined;
}

/** The results of one query, or of one of its cells, run by run. */
export function queryTrend(runs: readonly CaseInRun[]): Trend {
  const points = runs.flatMap(({ run, query }): TrendPoint[] => {
    if (query === undefined) return [];
    const { passed, decided, usd = null, ms = null, status } = query;
    const rate = decided === 0 ? null : passed / decided;
    return [
      {
        ...placeOf(run),
        passed,
        decided,
        rate,
        interval: wilsonInterval(passed, decided),
        usd,
        ms,
        status,
      },
    ];
  });
  return withDrifts(points);
}

/** The pass rate of a query over all runs. */
export function overallRate(points: readonly TrendPoint[]): {
  passed: number;
  decided: number;
  interval: Interval | null;
} {
  const passed = sum(points.map((point) => point.passed));
  const decided = sum(points.map((point) => point.decided));
  return { passed, decided, interval: wilsonInterval(passed, decided) };
}

const placeOf = ({ id, at, commit, branch }: HistoryRun) => ({
  run: id,
  at,
  commit,
  branch,
});

const withDrifts = (points: readonly TrendPoint[]): Trend => ({
  points,
  drifts: [driftOf('cost', points, ({ usd }) => usd), driftOf('latency', points, ({ ms }) => ms)],
  false_alarm_every: CUSUM_FALSE_ALARM_EVERY,
});

function driftOf(
  of: 'cost' | 'latency',
  points: readonly TrendPoint[],
  measureOf: (point: TrendPoint) => number | null,
): Drift {
  const known = points.flatMap((point) => {
    const value = measureOf(point);
    return value === null ? [] : [{ point, value }];
  });
  const shift = findShift(known.map(({ value }) => value));
  if (shift === undefined)
    return { of, verdict: 'too_few_runs', runs: known.length, needed: CUSUM_MIN };
  if (shift === null) return { of, verdict: 'steady' };
  const first = known[shift.from] ?? known[shift.found]!;
  return {
    of,
    verdict: shift.direction,
    since: first.point.run,
    at: first.point.at,
    // Medians, because one outlier could move a mean so far that a rise looks like a fall.
    before: medianOf(known.slice(shift.start, shift.from)) ?? first.value,
    after: medianOf(known.slice(shift.from)) ?? first.value,
  };
}

const medianOf = (known: readonly { readonly value: number }[]): number | null =>
  quantile(
    known.map(({ value }) => value),
    0.5,
  );

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);
