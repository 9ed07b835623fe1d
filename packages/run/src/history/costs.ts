import type { Interval } from '@agentci/stats';
import { mean, meanInterval } from '@agentci/stats';
import type { HistoryRun } from './history-run.ts';

export const PERIODS = ['day', 'week', 'month'] as const;
export type Period = (typeof PERIODS)[number];

export interface PeriodCost {
  /** `2026-11-17`, `2026-W47` or `2026-11`, in UTC. */
  readonly period: string;
  readonly runs: number;
  /** Of what is known; `null` where nothing is. With what was paid for results that do not count. */
  readonly usd: number | null;
  /** Of what is known; `null` where nothing is. */
  readonly tokens: number | null;
  /** Of the runs of which all costs are known; `null` where none is. */
  readonly usd_per_run: number | null;
  /** 95 %, from Student's t; `null` below two such runs. */
  readonly interval: Interval | null;
  /** Runs of queries whose cost is not known: the sum lacks them. */
  readonly unpriced: number;
  /** Runs some or all of whose tokens are not known: the sum lacks them. */
  readonly uncounted: number;
}

/** What the runs of each period cost, the oldest first. */
export function costsBy(period: Period, runs: readonly HistoryRun[]): PeriodCost[] {
  const groups = new Map<string, HistoryRun[]>();
  for (const run of runs) {
    const key = periodOf(period, new Date(run.at));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [run]);
    else group.push(run);
  }
  // Runs are in the order in which they came, which need not be that of their dates.
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

/** Where no query was asked, nothing was spent; that is known. */
function spentIn({ usd, unpriced, unused_usd }: HistoryRun): number | null {
  const used = usd ?? (unpriced === 0 ? 0 : null);
  return unused_usd === undefined ? used : (used ?? 0) + unused_usd;
}

/** Nothing known is not nothing spent. */
function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

/** Lines of older versions do not say of how many queries the tokens are known. */
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
