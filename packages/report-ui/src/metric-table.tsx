import { chanceText, verdictText } from '@agentci/reporters/shared';
import type { CheckStatus, MetricComparison } from '@agentci/results';
import { neededQueries, pairsText } from '@agentci/results';
import { roundNumber } from './check-value.ts';
import { FORMATS, percent, plural, signOf } from './format.ts';
import { Status } from './status.tsx';
import { visible } from './visible-text.ts';

const VERDICTS: Record<MetricComparison['verdict'], CheckStatus> = {
  better: 'pass',
  worse: 'fail',
  worse_within_limit: 'warn',
  no_difference: 'skip',
  inconclusive: 'warn',
};

/**
 * Every metric over all pairs: before, after, the difference with its interval, and a conclusion.
 */
export function MetricTable({ metrics }: { metrics: readonly MetricComparison[] }) {
  if (metrics.length === 0) return null;
  return (
    <>
      <h3>Over all queries</h3>
      <table class="grid cards">
        <caption>Means over the pairs; the difference with its 95 % interval</caption>
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
              Difference
            </th>
            <th scope="col">In words</th>
          </tr>
        </thead>
        <tbody>
          {metrics.map((metric) => (
            <tr key={metric.metric}>
              <td class="wrap">
                <code>{visible(metric.metric)}</code>
              </td>
              <td>
                <Status status={VERDICTS[metric.verdict]} label={verdictText(metric)} />
              </td>
              <td class="number" data-label="before">
                {metricText(metric.metric, metric.before_mean)}
              </td>
              <td class="number" data-label="after">
                {metricText(metric.metric, metric.after_mean)}
              </td>
              <td class="number" data-label="difference">
                {changeText(metric)}
              </td>
              <td class="wrap">{wordsOf(metric)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

const metricText = (name: string, value: number): string => {
  if (Object.hasOwn(FORMATS, name)) return FORMATS[name as keyof typeof FORMATS](value);
  if (name === 'pass_rate') return percent(value);
  return roundNumber(value);
};

/** `damage` counts regressions as positive. The table shows after minus before. */
function changeText({ metric, better, damage: { mean, low, high } }: MetricComparison): string {
  const turn = better === 'higher' ? -1 : 1;
  const isRate = metric === 'pass_rate';
  const signed = (value: number) => {
    const size = Math.abs(value);
    const text = isRate ? String(Math.round(1000 * size) / 10) : metricText(metric, size);
    return `${signOf(value)}${text}`;
  };
  const middle = `${signed(turn * mean)}${isRate ? ' points' : ''}`;
  if (low === null || high === null) return middle;
  const [from, to] = turn === 1 ? [low, high] : [-high, -low];
  return `${middle} (${signed(from)} to ${signed(to)})`;
}

function wordsOf(metric: MetricComparison): string {
  const { verdict, reason, queries } = metric;
  const needed = neededQueries(metric);
  const over = pairsText(metric);
  const enough =
    needed === null || needed <= queries
      ? ''
      : `; about ${plural(needed, 'query', 'queries')} would settle it`;
  if (reason === 'identical')
    return verdict === 'no_difference'
      ? 'the same in every pair'
      : `the same in every pair, and ${over} could miss a change${enough}`;
  const p = chanceText(metric);
  const allowed = `allowed are ${metricText(metric.metric, metric.max_drop)}`;
  if (verdict === 'worse_within_limit') return `${over}, ${p}; ${allowed}`;
  if (verdict !== 'inconclusive') return `${over}, ${p}`;
  if (reason === 'near_limit') return `${over}, ${p}; ${allowed}${enough}`;
  return reason === 'too_few_pairs'
    ? `${over}: too few to tell${enough}`
    : `${over}, ${p}: not settled${enough}`;
}
