import type { PageTrends } from '@agentci/results';
import { percent, plural, time } from './format.ts';
import { visible } from './visible-text.ts';

/** Queries that fail now, with the first failing run and commit. */
export function FailingSince({ trends: { failing, runs } }: { trends: PageTrends }) {
  if (failing.length === 0) return null;
  return (
    <>
      <h3>Failing, and since when</h3>
      <table class="grid cards">
        <caption>In the last {plural(runs, 'run')} of the history</caption>
        <thead>
          <tr>
            <th scope="col">Query</th>
            <th scope="col">First failed</th>
            <th scope="col">Last good</th>
            <th scope="col" class="number">
              Runs in a row
            </th>
          </tr>
        </thead>
        <tbody>
          {failing.map(({ name, first, good, runs: row, flips }) => (
            <tr key={name}>
              <td class="wrap">
                <code>{visible(name)}</code>
              </td>
              <td class="wrap" data-label="first failed">
                <Place {...first} />
              </td>
              <td class="wrap" data-label="last good">
                {good ? <Place {...good} /> : 'no run before it passed'}
                {good?.commit !== undefined && good.commit === first.commit && (
                  <span class="sub"> (the same commit: something else changed)</span>
                )}
              </td>
              <td class="number" data-label="runs in a row">
                {row}
                {flips > 0 && `, after ${plural(flips, 'flip')}: may be chance`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

const Place = ({ run, at, commit }: { run: string; at: string; commit?: string }) => (
  <>
    {commit === undefined ? (
      <span>commit not known</span>
    ) : (
      <code>{visible(commit.slice(0, 12))}</code>
    )}{' '}
    <span class="sub">
      {time(at)} · {visible(run)}
    </span>
  </>
);

/** Queries with the most verdict changes. */
export function Flakiest({ trends: { flaky, steady, too_few } }: { trends: PageTrends }) {
  return (
    <>
      <h3>Flakiest queries</h3>
      {flaky.length > 0 && (
        <table class="grid cards">
          <thead>
            <tr>
              <th scope="col">Query</th>
              <th scope="col" class="number">
                Passed
              </th>
              <th scope="col" class="number">
                95 % interval
              </th>
              <th scope="col" class="number">
                Changes of verdict
              </th>
            </tr>
          </thead>
          <tbody>
            {flaky.map(({ name, passed, decided, interval, flips }) => (
              <tr key={name}>
                <td class="wrap">
                  <code>{visible(name)}</code>
                </td>
                <td class="number" data-label="passed">
                  {percent(passed / decided)} ({passed} of {decided})
                </td>
                <td class="number" data-label="95 % interval">
                  {percent(interval.low)} to {percent(interval.high)}
                </td>
                <td class="number" data-label="changes of verdict">
                  {flips}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="empty">
        {[
          flaky.length === 0 && 'No query is known to be flaky.',
          steady > 0 && `${plural(steady, 'query is', 'queries are')} steady.`,
          too_few > 0 && `${plural(too_few, 'query has', 'queries have')} too few runs to tell.`,
        ]
          .filter(Boolean)
          .join(' ')}
      </p>
    </>
  );
}
