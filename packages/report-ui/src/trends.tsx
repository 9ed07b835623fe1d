import type { PagePoint, PageRun, PageTrends } from '@agentci/results';
import { wilsonInterval } from '@agentci/stats';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Chart } from './chart.tsx';
import { ms, percent, plural, time, usd, usdTick } from './format.ts';
import { fetchTrends } from './source.ts';
import { FailingSince, Flakiest } from './trend-tables.tsx';
import { visible } from './visible-text.ts';

/**
 * An agent's trends: pass rate with its interval, cost, latency, then flaky and failing queries.
 */
export function Trends({ agent, runs }: { agent: string; runs: readonly PageRun[] }) {
  const [branch, setBranch] = useState('');
  const [trends, setTrends] = useState<PageTrends | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    void fetchTrends(agent, branch)
      .catch(() => undefined)
      .then((found) => !isOver && setTrends(found));
    return () => {
      isOver = true;
    };
  }, [agent, branch, runs]);
  const points = useMemo(
    // The history includes deleted runs. Without a history, only stored runs are used.
    () => (trends && trends.points.length > 1 ? trends.points : storedPoints(agent, runs)),
    [trends, agent, runs],
  );
  return (
    <>
      {(trends?.branches.length ?? 0) > 1 && (
        <p class="choice">
          <label>
            Branch{' '}
            <select
              value={trends!.branch ?? '*'}
              onChange={(event) => setBranch(event.currentTarget.value)}
            >
              <option value="*">all</option>
              {trends!.branches.map((name) => (
                <option key={name} value={name}>
                  {visible(name)}
                </option>
              ))}
            </select>
          </label>
        </p>
      )}
      {points.length > 1 && <TrendCharts agent={agent} points={points} runs={runs} />}
      {trends?.drifts.map((words) => (
        <p class="empty" key={words}>
          {visible(words)}
        </p>
      ))}
      {trends && <FailingSince trends={trends} />}
      {trends && <Flakiest trends={trends} />}
    </>
  );
}

function TrendCharts({
  agent,
  points,
  runs,
}: {
  agent: string;
  points: readonly PagePoint[];
  runs: readonly PageRun[];
}) {
  // Runs of one day are labeled by time.
  const isOneDay = new Set(points.map(({ at }) => at.slice(0, 10))).size === 1;
  const nameOf = (value: number) => {
    const at = points[value - 1]?.at ?? '';
    return isOneDay ? at.slice(11, 16) : at.slice(5, 10);
  };
  const onPick = (index: number) => {
    const id = points[index]?.run;
    if (id !== undefined && runs.some((run) => run.id === id))
      location.hash = `#/?run=${encodeURIComponent(id)}`;
  };
  const charts = [
    {
      title: 'Pass rate',
      unit: '% of decided',
      of: (point: PagePoint) => point.rate,
      text: percent,
      exact: percent,
    },
    {
      title: 'Cost',
      unit: 'USD per query',
      of: (point: PagePoint) => point.usd,
      text: usdTick,
      exact: usd,
    },
    { title: 'Latency', unit: 'median', of: (point: PagePoint) => point.ms, text: ms, exact: ms },
  ];
  return (
    <div class="columns three">
      {charts
        .filter(({ of }) => points.some((point) => of(point) !== null))
        .map(({ title, unit, of, text, exact }) => {
          const isRate = title === 'Pass rate';
          return (
            <Chart
              key={title}
              caption={`${title} of ${visible(agent)}${isRate ? ', with the 95 % interval' : ''}`}
              label={`${title} over ${plural(points.length, 'run')}, last ${exact(of(points.at(-1)!))}`}
              x={points.map((_, i) => i + 1)}
              series={[{ name: title, color: '--accent', values: points.map(of) }]}
              band={
                isRate
                  ? {
                      low: points.map(({ interval }) => interval?.low ?? null),
                      high: points.map(({ interval }) => interval?.high ?? null),
                    }
                  : undefined
              }
              yMax={isRate ? 1 : undefined}
              kind="lines"
              xLabel={isOneDay ? 'started, UTC' : 'day of the run'}
              yLabel={unit}
              xText={nameOf}
              xSpace={52}
              yText={text}
              onPick={onPick}
              table={{
                head: ['Run', 'Started', title, ...(isRate ? ['95 % interval'] : [])],
                rows: points.map((point) => [
                  point.commit === undefined
                    ? point.run
                    : `${point.run} (${point.commit.slice(0, 10)})`,
                  time(point.at),
                  isRate
                    ? `${exact(of(point))} (${point.passed} of ${point.decided})`
                    : exact(of(point)),
                  ...(isRate
                    ? [
                        point.interval
                          ? `${percent(point.interval.low)} to ${percent(point.interval.high)}`
                          : '—',
                      ]
                    : []),
                ]),
              }}
            />
          );
        })}
    </div>
  );
}

function storedPoints(agent: string, runs: readonly PageRun[]): PagePoint[] {
  return runs
    .filter((run) => run.finished && run.agent === agent && run.summary !== null && !run.part)
    .map(({ id, started_at, summary, cost_usd, median_latency_ms }) => {
      const { passed, failed, total, skipped } = summary!;
      const judged = total - skipped;
      return {
        run: id,
        at: started_at,
        passed,
        decided: passed + failed,
        rate: passed + failed === 0 ? null : passed / (passed + failed),
        interval: wilsonInterval(passed, passed + failed),
        usd: cost_usd === null || judged === 0 ? null : cost_usd / judged,
        ms: median_latency_ms,
      };
    })
    .reverse();
}
