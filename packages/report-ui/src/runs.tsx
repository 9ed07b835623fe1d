import { useEffect, useMemo, useState } from 'preact/hooks';
import type { PageRun } from '../../agentci/src/results/page-data.ts';
import { count, ms, percent, time, usd, usdTick } from './format.ts';
import { Plot } from './plot.tsx';
import { data, fetchHistory } from './source.ts';
import { Status } from './status.tsx';
import { visible } from './visible-text.ts';

const rateOf = ({ summary }: PageRun): number | null =>
  summary && summary.total > 0 ? summary.passed / summary.total : null;

/** The stored runs, newest first, and how they have developed. */
export function Runs({ runs, current }: { runs: readonly PageRun[]; current: string | undefined }) {
  const agent = runs.find(({ id }) => id === current)?.agent ?? runs[0]?.agent;
  const [history, setHistory] = useState<readonly PageRun[]>([]);
  useEffect(() => {
    if (data.live)
      void fetchHistory()
        .then((found) => setHistory(found ?? []))
        .catch(() => undefined);
  }, [runs]);
  const trend = useMemo(() => {
    const isOurs = (run: PageRun): boolean => run.finished && run.agent === agent && !run.part;
    const stored = runs.filter(isOurs);
    const known = history.filter(isOurs);
    // The history has runs that are no longer stored; without one the stored runs are all there is.
    const past = [...(known.length > 1 ? known : stored)].reverse();
    const x = past.map((_, i) => i + 1);
    return {
      past,
      rate: [x, past.map(rateOf)] as [number[], (number | null)[]],
      cost: [x, past.map((run) => run.cost_usd)] as [number[], (number | null)[]],
      latency: [x, past.map((run) => run.median_latency_ms)] as [number[], (number | null)[]],
    };
  }, [runs, history, agent]);
  // Runs of one day are told apart by the hour.
  const isOneDay = new Set(trend.past.map(({ started_at }) => started_at.slice(0, 10))).size === 1;
  const name = (value: number) => {
    const started = trend.past[value - 1]?.started_at ?? '';
    return isOneDay ? started.slice(11, 16) : started.slice(5, 10);
  };
  const pick = (index: number) => {
    const run = trend.past[index];
    if (run && runs.some(({ id }) => id === run.id)) location.hash = `#/?run=${encodeURIComponent(run.id)}`;
  };
  const charts = [
    ['Passed', trend.rate, percent],
    ['Agent cost', trend.cost, usdTick],
    ['Latency, median', trend.latency, ms],
  ] as const;
  return (
    <section>
      <h2>Runs</h2>
      {runs.length === 0 && <p class="empty">Nothing has been run here yet.</p>}
      {trend.past.length > 1 && (
        <div class="columns three">
          {charts
            .filter(([, [, known]]) => known.some((value) => value !== null))
            .map(([title, values, format]) => (
              <figure key={title}>
                <figcaption>
                  {title}, {visible(agent ?? '')}
                </figcaption>
                <Plot
                  label={`${title} over ${trend.past.length} runs, last ${format(values[1].at(-1))}`}
                  data={values}
                  kind="lines"
                  xText={name}
                  xSpace={52}
                  yText={format}
                  onPick={pick}
                />
              </figure>
            ))}
        </div>
      )}
      {runs.length > 0 && (
        <table class="grid cards">
          <thead>
            <tr>
              <th scope="col">Started (UTC)</th>
              <th scope="col">Verdict</th>
              <th scope="col">Agent</th>
              <th scope="col" class="number">
                Passed
              </th>
              <th scope="col" class="number">
                Failed
              </th>
              <th scope="col" class="number">
                Errors
              </th>
              <th scope="col" class="number">
                Cost
              </th>
              <th scope="col" class="number">
                Tokens
              </th>
              <th scope="col" class="number">
                Latency
              </th>
              <th scope="col">Compare</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <tr key={run.id} aria-current={run.id === current ? 'true' : undefined}>
                <td>
                  <a href={`#/?run=${encodeURIComponent(run.id)}`}>{time(run.started_at)}</a>
                  <span class="sub"> {visible(run.id)}</span>
                </td>
                <td>
                  {!run.finished ? (
                    <span class="status running">not finished</span>
                  ) : (
                    <Status
                      status={run.summary?.exit_code === 0 ? 'pass' : run.summary?.exit_code === 1 ? 'fail' : 'error'}
                      label={
                        run.summary?.exit_code === 0
                          ? 'passed'
                          : run.summary?.exit_code === 1
                            ? 'failed'
                            : 'could not tell'
                      }
                    />
                  )}
                </td>
                <td>
                  {visible(run.agent)} <span class="sub">{visible(run.spec)}</span>
                </td>
                <td class="number" data-label="passed">
                  {count(run.summary?.passed)}
                </td>
                <td class="number" data-label="failed">
                  {count(run.summary?.failed)}
                </td>
                <td class="number" data-label="errors">
                  {count(run.summary?.errors)}
                </td>
                <td class="number" data-label="cost">
                  {usd(run.cost_usd)}
                </td>
                <td class="number" data-label="tokens">
                  {count(run.total_tokens)}
                </td>
                <td class="number" data-label="latency">
                  {ms(run.median_latency_ms)}
                </td>
                <td>
                  {run.finished && run.id !== current && (
                    <a href={`#/compare?before=${encodeURIComponent(run.id)}`} aria-label={`compare with ${run.id}`}>
                      compare
                    </a>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
