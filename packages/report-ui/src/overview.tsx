import { exampleLine, groupCount, passHatTable, shownGroups } from '@agentci/reporters/shared';
import {
  type CheckStatus,
  cassetteText,
  LAYERS,
  type RunResult,
  usageInAll,
} from '@agentci/results';
import { useMemo } from 'preact/hooks';
import { countStatuses, type Filters, STATUSES } from './filters.ts';
import { count, ms, plural, quantile, usd } from './format.ts';
import { data } from './source.ts';
import { Status } from './status.tsx';
import { visible } from './visible-text.ts';

/** Summary of the run: counts by layer, cost, and warnings. */
export function Overview({
  run,
  filters,
  onFilter,
}: {
  run: RunResult;
  filters: Filters;
  onFilter: (filters: Filters) => void;
}) {
  // The filters change with every typed letter, but the run does not.
  const byLayer = useMemo(
    () => ({
      '': countStatuses(run.results, ''),
      correctness: countStatuses(run.results, 'correctness'),
      path: countStatuses(run.results, 'path'),
      cost: countStatuses(run.results, 'cost'),
    }),
    [run],
  );
  const cassette = run.cassette === undefined ? [] : [cassetteText(run.cassette, run)];
  const notices = [...cassette, ...run.notices, ...data.notes];
  return (
    <section aria-labelledby="overview-title" class="overview">
      <h2 id="overview-title" class="sr">
        Overview
      </h2>
      <div class="columns">
        <table class="layers">
          <caption class={hasHiddenFailures(run) ? 'note' : 'sr'}>
            {hasHiddenFailures(run)
              ? 'Layers are those of the worst run of each query: one that passes often enough can have a layer that fails.'
              : 'Statuses by layer'}
          </caption>
          <tbody>
            {(['', ...LAYERS] as const).map((layer) => {
              const counts = byLayer[layer];
              const choose = (status: CheckStatus) =>
                onFilter({ ...filters, layer, statuses: new Set([status]) });
              return (
                <tr key={layer} class={layer === '' ? 'whole' : ''}>
                  <th scope="row">{layer === '' ? 'queries' : layer}</th>
                  <td class="bar-cell">
                    <Bar counts={counts} total={run.results.length} />
                  </td>
                  <td class="counts">
                    {STATUSES.filter((status) => counts[status] > 0).map((status) => (
                      <button
                        type="button"
                        class="count"
                        key={status}
                        onClick={() => choose(status)}
                        title={`Show ${layer || 'queries'}: ${status}`}
                      >
                        <Status status={status} label={`${count(counts[status])} ${status}`} />
                      </button>
                    ))}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
        <Totals run={run} />
      </div>
      <PassHat run={run} />
      <FailureGroups run={run} filters={filters} onFilter={onFilter} />
      {run.checks.filter(({ status }) => status !== 'pass').length > 0 && (
        <ul class="notices">
          {run.checks
            .filter(({ status }) => status !== 'pass')
            .map((check, i) => (
              <li key={`${check.id}-${i}`}>
                <Status status={check.status} /> <code>{visible(check.id)}</code>{' '}
                {visible(check.message)}
              </li>
            ))}
        </ul>
      )}
      {notices.length > 0 && (
        <details class="notices" open={notices.length < 4}>
          <summary>{plural(notices.length, 'note')}</summary>
          <ul>
            {notices.map((notice) => (
              <li key={notice}>{visible(notice)}</li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** A query that passes by its rate may show the layers of a failed repeat. */
const hasHiddenFailures = ({ results }: RunResult): boolean =>
  results.some(
    (result) =>
      (result.runs?.length ?? 1) > 1 &&
      (result.status === 'pass' || result.status === 'warn') &&
      LAYERS.some((layer) => result[layer].status === 'fail' || result[layer].status === 'error'),
  );

/** Groups failures by cause, each with links to its queries. */
function FailureGroups({
  run,
  filters,
  onFilter,
}: {
  run: RunResult;
  filters: Filters;
  onFilter: (filters: Filters) => void;
}) {
  const groups = useMemo(() => shownGroups(run), [run]);
  if (groups.length === 0) return null;
  return (
    <section class="causes" aria-labelledby="causes-title">
      <h3 id="causes-title">Failures by cause</h3>
      <ul>
        {groups.map(({ signature, check, kind, title, examples, queries, ...rest }) => (
          <li key={signature}>
            <Status status={kind} label={visible(groupCount({ queries, ...rest }))} />{' '}
            <code>{visible(check)}</code> {visible(exampleLine(title))}{' '}
            <button
              type="button"
              class="link"
              onClick={() =>
                onFilter({ ...filters, layer: '', statuses: new Set([kind]), text: queries[0]! })
              }
            >
              {visible(queries[0]!)}
            </button>
            {queries.length > 1 && ` and ${queries.length - 1} more`}
            {examples.some(({ message }) => message !== title) && (
              <details>
                <summary>For example</summary>
                <ul>
                  {examples.map(({ query, message }) => (
                    <li key={query}>
                      <code>{visible(query)}</code> {visible(exampleLine(message))}
                    </li>
                  ))}
                </ul>
              </details>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const Bar = ({ counts, total }: { counts: Record<CheckStatus, number>; total: number }) => (
  <div class="stack" aria-hidden="true">
    {STATUSES.map(
      (status) =>
        counts[status] > 0 && (
          <span
            key={status}
            class={status}
            style={{ width: `${(100 * counts[status]) / Math.max(1, total)}%` }}
          />
        ),
    )}
  </div>
);

type Total = [name: string, value: string, note: string];

function totalsOf(run: RunResult): Total[] {
  const cost = usageInAll(run.results, 'cost_usd');
  const tokens = usageInAll(run.results, 'total_tokens');
  const latency = [...usageInAll(run.results, 'latency_ms').values].sort((a, b) => a - b);
  const isRepeated = cost.of > run.results.length;
  const part = ({ known, of }: { known: number; of: number }) =>
    [
      isRepeated ? `all ${plural(of, 'run')}` : '',
      known > 0 && known < of ? `known for ${count(known)} of ${count(of)}` : '',
    ]
      .filter(Boolean)
      .join(', ');
  return [
    ['Agent cost', usd(cost.sum), part(cost)],
    ['Tokens', count(tokens.sum), part(tokens)],
    [
      'Latency, median',
      ms(quantile(latency, 0.5)),
      latency.length > 1 ? `95 % within ${ms(quantile(latency, 0.95))}` : '',
    ],
    [
      'Judge',
      run.judge.calls > 0 || run.judge.cached ? usd(run.judge.cost_usd) : 'not used',
      run.judge.calls > 0 || run.judge.cached
        ? `${plural(run.judge.calls, 'call')}${run.judge.cached ? `, ${run.judge.cached} stored` : ''}`
        : '',
    ],
  ];
}

function Totals({ run }: { run: RunResult }) {
  const items = useMemo(() => totalsOf(run), [run]);
  return (
    <dl class="totals">
      {items.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <strong>{value}</strong>
            {note && <small>{note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The probability that all of k repeats of a query pass, averaged over the queries. */
function PassHat({ run }: { run: RunResult }) {
  const { head, rows } = passHatTable(run.summary);
  if (rows.length === 0) return null;
  return (
    <table class="grid pass-hat">
      <caption>All of k runs passed, over the queries</caption>
      <thead>
        <tr>
          {head.map((cell) => (
            <th scope="col" class="number" key={cell}>
              {cell}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, ...cells]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {cells.map((cell, i) => (
              <td class="number" key={`${name}-${i}`}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
