import { formatMs, formatUsd } from '@agentci/lib/numbers';
import { andMore, escapeTerminalLine, formatCount, plural } from '@agentci/lib/text';
import { caseText } from '@agentci/results';
import type { FirstBad, HistoryRun, PeriodCost } from '@agentci/run';
import {
  type Drift,
  FLAKY_MIN_RUNS,
  type FlakyReport,
  overallRate,
  type Trend,
  type TrendPoint,
} from '@agentci/run';
import type { Interval } from '@agentci/stats';

/** Fewer runs do not show a trend. */
const MIN_TREND = 3;
const EXITS: Readonly<Record<number, string>> = { 0: 'passed', 1: 'failed', 2: 'could not tell' };

/** `misdated` holds the indexes of runs whose dates contradict the order. */
export function listText(runs: readonly HistoryRun[], misdated: ReadonlySet<number>): string {
  const rows = runs
    .map((run, at) => [
      run.id,
      `${timeOf(run.at)}${misdated.has(at) ? ' ?' : ''}`,
      run.branch ?? '-',
      run.commit?.slice(0, 8) ?? '-',
      run.spec,
      `${run.passed}/${run.total}${run.part ? ' (part)' : ''}`,
      EXITS[run.exit] ?? `exit ${run.exit}`,
      run.usd === null ? '-' : knownText(run.usd, run.unpriced, formatUsd),
      run.p50_ms === null ? '-' : formatMs(run.p50_ms),
    ])
    .reverse();
  const note =
    misdated.size === 0
      ? ''
      : `?: ${plural(misdated.size, 'date')} of a wrong clock. Runs are listed in the order in which they came\n`;
  return `${table(['run', 'started', 'branch', 'commit', 'spec', 'passed', 'verdict', 'cost', 'p50'], rows)}${note}`;
}

export function trendText(
  {
    points,
    drifts,
    false_alarm_every,
    unread = [],
  }: Trend & { readonly unread?: readonly string[] },
  query: string | undefined,
): string {
  const rows = points.map((point) => [
    point.run,
    timeOf(point.at),
    point.commit?.slice(0, 8) ?? '-',
    point.status ?? `${point.passed}/${point.decided}`,
    rateText(point.rate, point.interval),
    point.usd === null ? '-' : formatUsd(point.usd),
    point.ms === null ? '-' : formatMs(point.ms),
  ]);
  const head = [
    'run',
    'started',
    'commit',
    query === undefined ? 'passed' : 'status',
    'pass rate (95 %)',
    'cost/query',
    'latency',
  ];
  const overall = overallRate(points);
  const lines = [table(head, rows)];
  if (points.length < MIN_TREND)
    lines.push(`too few runs for a trend: ${points.length} of at least ${MIN_TREND}\n`);
  if (query !== undefined)
    lines.push(
      `${escapeTerminalLine(query)} over ${plural(points.length, 'run')}: ${rateText(overall.decided === 0 ? null : overall.passed / overall.decided, overall.interval)}\n`,
    );
  lines.push(unreadText(unread));
  lines.push(...drifts.map((drift) => `${driftText(drift, false_alarm_every)}\n`));
  return lines.join('');
}

function driftText(drift: Drift, every: number): string {
  const { of } = drift;
  const alarm = `one false alarm in about ${every} runs`;
  if (drift.verdict === 'too_few_runs')
    return `${of}: too few runs to tell a change (${drift.runs} of at least ${drift.needed})`;
  if (drift.verdict === 'steady') return `${of}: no lasting change (CUSUM, ${alarm})`;
  const shown = of === 'cost' ? formatUsd : formatMs;
  return `${of}: ${drift.verdict} since run ${drift.since} (${timeOf(drift.at)}), from ${shown(drift.before)} to ${shown(drift.after)} in the median (CUSUM, ${alarm})`;
}

export function flakyText(
  { flaky, steady, too_few }: FlakyReport,
  { runs, isOfSeveral }: { readonly runs: number; readonly isOfSeveral: boolean },
): string {
  const rows = flaky.map((query) => [
    ...(isOfSeveral ? [query.agent, query.spec] : []),
    caseText(query),
    `${query.passed}/${query.decided}`,
    rateText(query.rate, query.interval),
    String(query.flips),
    query.same_commit ? 'yes' : 'no',
    `${timeOf(query.since.at)} (${query.since.run})`,
  ]);
  const head = ['query', 'passed', 'pass rate (95 %)', 'flips', 'on one commit', 'since'];
  const lines =
    flaky.length === 0 ? [] : [table([...(isOfSeveral ? ['agent', 'spec'] : []), ...head], rows)];
  const queries = plural(flaky.length + steady + too_few, 'query', 'queries');
  lines.push(
    `${queries} in ${plural(runs, 'run')}: ${formatCount(flaky.length)} flaky, ${formatCount(steady)} steady, ${formatCount(too_few)} decided in fewer than ${FLAKY_MIN_RUNS} runs, which is too few to tell\n`,
  );
  return lines.join('');
}

/** Lists runs with unreadable queries in one line. */
export const unreadText = (
  runs: readonly string[],
  soWhat = 'so it may have failed there',
): string =>
  runs.length === 0
    ? ''
    : `the queries of ${plural(runs.length, 'run')} are damaged or no longer kept, ${soWhat}: ${escapeTerminalLine(andMore(runs.toReversed(), 3))}\n`;

export function firstBadText(
  found: FirstBad & { readonly unread?: readonly string[] },
  query: string,
  {
    branch,
    hasOtherBranches,
    unreadLines,
  }: { readonly branch?: string; readonly hasOtherBranches: boolean; readonly unreadLines: number },
): string {
  const onBranch = hasOtherBranches
    ? ` on branch ${escapeTerminalLine(branch!)}; --branch "*" looks at all branches`
    : '';
  const name = escapeTerminalLine(query);
  const pointText = (point: TrendPoint): string =>
    `run ${point.run} (${timeOf(point.at)}${point.commit === undefined ? '' : `, commit ${point.commit.slice(0, 8)}`})`;
  const { unread = [] } = found;
  const unreadNote = unreadText(unread);
  switch (found.verdict) {
    case 'never_run':
      return `${name} was never run\n`;
    case 'never_decided':
      return `${name} was never decided: it was skipped, or could not be judged, in every run${unread.length === 0 ? '' : ' that can be read'}\n${unreadNote}`;
    case 'unknown':
      return `${name} last passed in ${pointText(found.good)}; what became of it since cannot be read\n${unreadNote}`;
    case 'good': {
      if (found.last !== undefined)
        return `${name} passes now; it last failed in ${pointText(found.last)}\n${unreadNote}`;
      const every =
        unread.length === 0 && unreadLines === 0 ? 'every run' : 'every run that can be read and';
      return `${name} passed in ${every} in which it was decided\n${unreadNote}`;
    }
    case 'bad':
    case 'expected': {
      const fails = found.verdict === 'bad' ? 'fails' : 'is expected to fail, and does';
      const lines = [
        `${name} ${fails} since ${pointText(found.first)}, ${plural(found.runs, 'run')} in a row`,
      ];
      lines.push(
        found.good === undefined
          ? `  no run before that passed${onBranch}`
          : `  it last passed in ${pointText(found.good)}`,
      );
      if (found.undecided > 0)
        lines.push(
          `  not decided in ${plural(found.undecided, 'run')} between the two, so it may have begun there`,
        );
      if (found.flips > 1)
        lines.push(
          `  its verdict changed ${found.flips} times before: it is flaky, so the first bad run may be chance`,
        );
      return `${lines.join('\n')}\n${unreadNote}`;
    }
    default:
      throw new Error(`unhandled verdict: ${JSON.stringify(found satisfies never)}`);
  }
}

export function costText(costs: readonly PeriodCost[], period: string): string {
  const rows = costs.map((cost) => [
    cost.period,
    String(cost.runs),
    knownText(cost.usd, cost.unpriced, formatUsd),
    cost.usd_per_run === null ? '-' : formatUsd(cost.usd_per_run),
    cost.interval === null
      ? 'too few runs'
      : `${formatUsd(Math.max(0, cost.interval.low))} to ${formatUsd(cost.interval.high)}`,
    knownText(cost.tokens, cost.uncounted, formatCount),
  ]);
  const unpriced = costs.reduce((sum, cost) => sum + cost.unpriced, 0);
  const note =
    unpriced === 0
      ? ''
      : `the cost of ${plural(unpriced, 'run')} of queries is not known and not in the sums\n`;
  return `${table([period, 'runs', 'cost', 'per run', '95 % interval', 'tokens'], rows)}${note}`;
}

/** Formats a partial sum as "at least", and nothing if no value is known. */
const knownText = (
  sum: number | null,
  missing: number,
  format: (value: number) => string,
): string => (sum === null ? 'unknown' : `${missing > 0 ? 'at least ' : ''}${format(sum)}`);

const timeOf = (at: string): string => at.slice(0, 16).replace('T', ' ');

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

const rateText = (rate: number | null, interval: Interval | null): string =>
  rate === null || interval === null
    ? 'not decided'
    : `${percent(rate)} (${percent(interval.low)} to ${percent(interval.high)})`;

/** A table with fitted columns. Names come from recordings, so they are escaped. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => escapeTerminalLine(cell)));
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)));
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
