import type { Interval } from '@agentci/stats';
import { mean, meanInterval } from '@agentci/stats';
import type { HistoryRun } from './history-run.ts';

export const PERIODS = ['day', 'week', 'month'] as const;
export type Period = (typeof PERIODS)[number];

export interface PeriodCost {
  /** `2026-11-17`, `2026-W47` or `2026-11`, in UTC. */
  readonly period: string;
  readonly runs: number;
  /** Sum of the known costs, with wasted cost. `null` if none is known. */
  readonly usd: number | null;
  /** Sum of the known tokens. `null` if none are known. */
  readonly tokens: number | null;
  /** Mean over the runs whose costs are all known. `null` if there are none. */
  readonly usd_per_run: number | null;
  /** 95 % interval, from Student's t. `null` with fewer than two such runs. */
  readonly interval: Interval | null;
  /** Number of query runs without a known cost. The sum lacks them. */
  readonly unpriced: number;
  /** Number of runs with unknown tokens. The sum lacks them. */
  readonly uncounted: number;
}

/** The cost of the runs in each period, oldest first. */
export function costsBy(period: Period, runs: readonly HistoryRun[]): PeriodCost[] {
  const groups = new Map<string, HistoryRun[]>();
  for (const run of runs) {
    const key = periodOf(period, new Date(run.at));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [run]);
    else group.push(run);
  }
  // Runs come in order of arrival, which may differ from the order of their dates.
  const sorted = [...groups].sort(([a], [b]) => Number(a > b) - Number(a < b));
  return sorted.map(([key, group]) => {
    const whole = group.flatMap((run) =>
      run.usd === null || run.unpriced > 0 ? [] : [spentIn(run)!],
    );
    return {
      period: key,
      runs: group.length,
      usd: sumOf(group.map(spentIn)),
      tokens: sumOf(group.map(({ tokens, uncounted }) => tokens ?? (uncounted === 0 ? 0 : null))),
      usd_per_run: mean(whole),
      interval: meanInterval(whole),
      unpriced: group.reduce((sum, { unpriced }) => sum + unpriced, 0),
      uncounted: group.filter(isUncounted).length,
    };
  });
}

/** A run in which no query was started cost nothing, which is known. */
function spentIn({ usd, unpriced, unused_usd }: HistoryRun): number | null {
  const used = usd ?? (unpriced === 0 ? 0 : null);
  return unused_usd === undefined ? used : (used ?? 0) + unused_usd;
}

/** An unknown sum is null, not 0. */
function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

/** Lines of older versions do not record how many queries have known tokens. */
const isUncounted = ({ tokens, uncounted }: HistoryRun): boolean =>
  uncounted === undefined ? tokens === null : uncounted > 0;

function periodOf(period: Period, at: Date): string {
  const day = at.toISOString().slice(0, 10);
  if (period === 'day') return day;
  if (period === 'month') return day.slice(0, 7);
  // The week of ISO 8601: it belongs to the year of its Thursday.
  const thursday = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()));
  thursday.setUTCDate(thursday.getUTCDate() + 4 - (thursday.getUTCDay() || 7));
  const days = (thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / 86_400_000;
  return `${thursday.getUTCFullYear()}-W${String(Math.floor(days / 7) + 1).padStart(2, '0')}`;
}
