import { clip } from '@agentci/lib/text';
import type { ChangeMetric, QueryChange } from '@agentci/run/baseline';
import { useState } from 'preact/hooks';
import { count, FORMATS, plural, signOf } from './format.ts';
import type { Sides } from './sides.ts';
import { visible } from './visible-text.ts';

const MAX_ROWS = 20;
const MORE_ROWS = 200;
const MIN_SHARE = 0.01;
const MAX_QUESTION = 160;

const MORE: Record<ChangeMetric, string> = {
  cost_usd: 'more expensive',
  latency_ms: 'slower',
  total_tokens: 'more tokens',
};
const LESS: Record<ChangeMetric, string> = {
  cost_usd: 'cheaper',
  latency_ms: 'faster',
  total_tokens: 'fewer tokens',
};

/**
 * Slower or more expensive queries: those beyond their noise first, then those one run cannot
 * decide.
 */
export function Changes({ sides }: { sides: Sides }) {
  const of = (...verdicts: QueryChange['verdict'][]) =>
    sides.changes
      .filter(({ verdict }) => verdicts.includes(verdict))
      .sort((a, b) => sizeOf(b) - sizeOf(a));
  const sure = balanced([...of('more'), ...of('less')]);
  const unknown = of('unknown').filter((change) => sizeOf(change) >= MIN_SHARE);
  const noise = of('noise');
  const hasVersion = sides.before.isVersion || sides.after.isVersion;
  if (sure.length + unknown.length + noise.length === 0) return null;
  return (
    <>
      <h3>Slower or more expensive, faster or cheaper</h3>
      {sure.length > 0 ? (
        <ChangeTable
          changes={sure}
          sides={sides}
          caption="Beyond the noise of the repeats, with the 95 % interval"
        />
      ) : (
        <p class="empty">
          {noise.length > 0
            ? 'No query changed by more than its repeats vary.'
            : `No query ran often enough on both sides to tell a change from noise${hasVersion ? ': a baseline has one recording of each' : ''}.`}
        </p>
      )}
      {noise.length > 0 && (
        <p class="empty">{plural(noise.length, 'difference')} within the noise of the repeats.</p>
      )}
      {unknown.length > 0 && (
        <details open={sure.length === 0}>
          <summary>
            {hasVersion
              ? 'Largest differences of single recordings: each may be noise. The summary of all queries is below.'
              : 'Largest differences of single runs: they may be noise; --runs 5 would tell'}
          </summary>
          <ChangeTable
            changes={balanced(unknown)}
            sides={sides}
            caption="Not told apart from noise"
          />
        </details>
      )}
    </>
  );
}

/** Regressions come first. Half of the visible rows show each kind, if there are enough. */
function balanced(changes: readonly QueryChange[]): QueryChange[] {
  const worse = changes.filter(({ difference }) => difference > 0);
  const better = changes.filter(({ difference }) => difference <= 0);
  const half = Math.max(MAX_ROWS / 2, MAX_ROWS - better.length);
  const left = Math.max(0, MAX_ROWS - Math.min(half, worse.length));
  return [
    ...worse.slice(0, half),
    ...better.slice(0, left),
    ...worse.slice(half),
    ...better.slice(left),
  ];
}

const sizeOf = ({ before, difference }: QueryChange): number =>
  before === 0 ? Number.MAX_VALUE : Math.abs(difference / before);

function ChangeTable({
  changes,
  sides,
  caption,
}: {
  changes: QueryChange[];
  sides: Sides;
  caption: string;
}) {
  const [limit, setLimit] = useState(MAX_ROWS);
  const shown = changes.slice(0, limit);
  return (
    <>
      <table class="grid cards">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Query</th>
            <th scope="col">What</th>
            <th scope="col" class="number">
              Before
            </th>
            <th scope="col" class="number">
              After
            </th>
            <th scope="col" class="number">
              Difference
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((change) => (
            <ChangeRow
              key={`${change.id} ${change.metric}`}
              change={change}
              asked={sides.asked.get(change.id)}
            />
          ))}
        </tbody>
      </table>
      {changes.length > shown.length && (
        <button type="button" class="link" onClick={() => setLimit(limit + MORE_ROWS)}>
          {moreText(changes.length - shown.length)}
        </button>
      )}
    </>
  );
}

function ChangeRow({ change, asked }: { change: QueryChange; asked: string | undefined }) {
  return (
    <tr>
      <td class="wrap">
        <a href={pairHash(change.id)}>{visible(clip(asked ?? change.id, MAX_QUESTION))}</a>{' '}
        <code>{visible(change.id)}</code>
      </td>
      <td class="nowrap">{(change.difference > 0 ? MORE : LESS)[change.metric]}</td>
      <td class="number" data-label="before">
        {FORMATS[change.metric](change.before)}
      </td>
      <td class="number" data-label="after">
        {FORMATS[change.metric](change.after)}
      </td>
      <td class="number" data-label="difference">
        {differenceText(change)}
      </td>
    </tr>
  );
}

const moreText = (left: number): string =>
  left <= MORE_ROWS ? `Show ${left} more` : `Show ${MORE_ROWS} of ${count(left)} more`;

/** URL hash of the same comparison at a query. */
function pairHash(id: string): string {
  const [path = '', search = ''] = location.hash.split('?', 2);
  const params = new URLSearchParams(search);
  params.set('q', id);
  return `${path || '#/compare'}?${params.toString()}`;
}

function differenceText({ metric, before, difference, interval }: QueryChange): string {
  const signed = (value: number) => `${signOf(value)}${FORMATS[metric](Math.abs(value))}`;
  const share =
    before > 0
      ? ` (${difference > 0 ? '+' : '−'}${Math.round((100 * Math.abs(difference)) / before)} %)`
      : '';
  const range = interval === null ? '' : `, ${signed(interval.low)} to ${signed(interval.high)}`;
  return `${signed(difference)}${share}${range}`;
}
