import { caseText } from '../../agentci/src/results/cell.ts';
import type { MetricComparison } from '../../agentci/src/results/diff.ts';
import type { PageBefore, PageRun } from '../../agentci/src/results/page-data.ts';
import type { CheckStatus, RunResult } from '../../agentci/src/results/run-result.ts';
import { usageOf } from './filters.ts';
import { FORMATS, percent, plural, time } from './format.ts';
import { queryHref } from './router.ts';
import { Status } from './status.tsx';
import { visible } from './visible-text.ts';

const MAX_ROWS = 200;

/** Two runs: what flipped, what got more expensive or slower, and whether the data can tell. */
export function Compare({
  run,
  before,
  runs,
}: {
  run: RunResult;
  before: PageBefore | undefined;
  runs: readonly PageRun[] | undefined;
}) {
  const others = runs?.filter(({ id, finished }) => finished && id !== run.run_id) ?? [];
  return (
    <section>
      <h2>Comparison</h2>
      {runs && (
        <p>
          <label>
            Run before:{' '}
            <select
              value={before?.run_id ?? ''}
              onChange={(event) => {
                location.hash = `#/compare?before=${encodeURIComponent(event.currentTarget.value)}`;
              }}
            >
              <option value="">choose a run</option>
              {others.map(({ id, started_at, agent }) => (
                <option key={id} value={id}>
                  {visible(`${time(started_at)} · ${agent} · ${id}`)}
                </option>
              ))}
            </select>
          </label>
        </p>
      )}
      {before ? <Differences run={run} before={before} /> : <p class="empty">No run to compare with is chosen.</p>}
    </section>
  );
}

const VERDICTS: Record<MetricComparison['verdict'], CheckStatus> = {
  better: 'pass',
  worse: 'fail',
  no_difference: 'skip',
  inconclusive: 'warn',
};

function Differences({ run, before }: { run: RunResult; before: PageBefore }) {
  const { comparison } = before;
  return (
    <>
      <p>
        {visible(`${before.run_id} → ${run.run_id}`)}: {plural(comparison.summary.pairs, 'query', 'queries')} in both.
      </p>
      <table class="grid">
        <caption>Metrics over all queries</caption>
        <thead>
          <tr>
            <th scope="col">Metric</th>
            <th scope="col">Verdict</th>
            <th scope="col" class="number">
              Before
            </th>
            <th scope="col" class="number">
              After
            </th>
            <th scope="col" class="number">
              Change
            </th>
            <th scope="col" class="number">
              p, adjusted
            </th>
          </tr>
        </thead>
        <tbody>
          {comparison.metrics.map((metric) => (
            <tr key={metric.metric}>
              <td>
                <code>{visible(metric.metric)}</code>
              </td>
              <td>
                <Status status={VERDICTS[metric.verdict]} label={metric.verdict.replaceAll('_', ' ')} />
              </td>
              <td class="number">{metricText(metric.metric, metric.before_mean)}</td>
              <td class="number">{metricText(metric.metric, metric.after_mean)}</td>
              <td class="number">{metric.pct_change === null ? '—' : signed(metric.pct_change)}</td>
              <td class="number">{metric.p_adjusted.toFixed(3)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <h3>Verdicts that changed</h3>
      {comparison.flips.length === 0 ? (
        <p class="empty">None.</p>
      ) : (
        <ul class="flips">
          {comparison.flips.slice(0, MAX_ROWS).map((flip) => (
            <li key={flip.id}>
              <Status status={flip.before} /> → <Status status={flip.after} />{' '}
              <a href={queryHref(flip.id)}>{visible(flip.id)}</a>
            </li>
          ))}
        </ul>
      )}
      <Changes run={run} before={before} />
      <OnlyIn title="Only in the run before" ids={comparison.only_before} />
      <OnlyIn title="Only in this run" ids={comparison.only_after} />
      <OnlyIn title="Without a verdict in one of them" ids={comparison.undecided} />
    </>
  );
}

const metricText = (name: string, value: number): string =>
  Object.hasOwn(FORMATS, name)
    ? FORMATS[name as keyof typeof FORMATS](value)
    : name === 'pass_rate'
      ? percent(value)
      : String(Math.round(value * 10_000) / 10_000);

const signed = (pct: number): string => `${pct > 0 ? '+' : ''}${Math.round(pct * 10) / 10} %`;

/** The queries whose cost, latency or tokens moved most. */
function Changes({ run, before }: { run: RunResult; before: PageBefore }) {
  const old = new Map(before.queries);
  const rows = run.results
    .flatMap((result) => {
      const was = old.get(caseText(result));
      if (!was) return [];
      const is = usageOf(result);
      const change = (key: keyof typeof FORMATS) => {
        const [a, b] = [was[key], is[key]];
        return typeof a === 'number' && typeof b === 'number' && a > 0 ? (100 * (b - a)) / a : null;
      };
      const changes = {
        cost_usd: change('cost_usd'),
        latency_ms: change('latency_ms'),
        total_tokens: change('total_tokens'),
      };
      const most = Math.max(...Object.values(changes).map((value) => Math.abs(value ?? 0)));
      return most >= 1 ? [{ result, was, is, changes, most }] : [];
    })
    .sort((a, b) => b.most - a.most)
    .slice(0, 20);
  if (rows.length === 0) return null;
  const keys = Object.keys(FORMATS) as (keyof typeof FORMATS)[];
  return (
    <>
      <h3>Largest changes</h3>
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">Query</th>
            <th scope="col" class="number">
              Cost
            </th>
            <th scope="col" class="number">
              Latency
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ result, was, is, changes }) => (
            <tr key={caseText(result)}>
              <td class="wrap">
                <a href={queryHref(caseText(result))}>{visible(result.query)}</a>
              </td>
              {keys.map((key) => (
                <td class="number" key={key}>
                  {FORMATS[key](was[key])} → {FORMATS[key](is[key])}
                  {changes[key] !== null && <small> {signed(changes[key])}</small>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

const OnlyIn = ({ title, ids }: { title: string; ids: readonly string[] }) =>
  ids.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <p>
        {visible(ids.slice(0, MAX_ROWS).join(', '))}
        {ids.length > MAX_ROWS ? ` and ${ids.length - MAX_ROWS} more` : ''}
      </p>
    </>
  );
