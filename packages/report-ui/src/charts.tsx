import type { CheckStatus, QueryResult } from '@agentci/results';
import { caseText, usageInAll } from '@agentci/results';
import { useMemo } from 'preact/hooks';
import { Chart } from './chart.tsx';
import { hasRepeats, STATUSES, usageOf } from './filters.ts';
import { count, FORMATS, quantile, usdTick } from './format.ts';
import { binsOf } from './histogram.ts';
import type { Series } from './plot.tsx';

const QUANTITIES = [
  ['cost_usd', 'Cost', 'USD'],
  ['latency_ms', 'Latency', 'time'],
  ['total_tokens', 'Tokens', 'tokens'],
] as const;

/** Cost, latency and tokens: distributions, and values by query. */
export function Charts({
  results,
  onOpen,
}: {
  results: readonly QueryResult[];
  onOpen: (id: string | undefined) => void;
}) {
  return (
    <>
      {QUANTITIES.map(([key, name, unit]) => (
        <Quantity
          key={key}
          quantity={key}
          name={name}
          unit={unit}
          results={results}
          onOpen={onOpen}
        />
      ))}
    </>
  );
}

interface Known {
  readonly id: string;
  readonly status: CheckStatus;
  readonly value: number;
}

/** The statuses that occur, worst first. */
const present = (known: readonly Known[]): CheckStatus[] =>
  STATUSES.filter((status) => known.some((each) => each.status === status));

/** Stacked bars in the status colors: each series includes the statuses drawn after it. */
function stackedBins(known: readonly Known[], sorted: readonly number[]) {
  const { centers, binOf } = binsOf(sorted);
  const statuses = present(known);
  const counts = new Map(statuses.map((status) => [status, centers.map(() => 0)]));
  for (const { status, value } of known) counts.get(status)![binOf(value)]!++;
  const totals = centers.map(() => 0);
  const series: Series[] = statuses.map((status) => {
    const own = counts.get(status)!;
    for (const [i, n] of own.entries()) totals[i]! += n;
    return {
      name: status,
      color: `--solid-${status}`,
      values: totals.map((n, i) => (own[i] === 0 ? null : n)),
    };
  });
  // The longest bars first, so that shorter ones are in front.
  return { centers, counts, statuses, series: series.reverse() };
}

function Quantity({
  quantity,
  name,
  unit,
  results,
  onOpen,
}: {
  quantity: (typeof QUANTITIES)[number][0];
  name: string;
  unit: string;
  results: readonly QueryResult[];
  onOpen: (id: string | undefined) => void;
}) {
  const format = FORMATS[quantity];
  const tick = quantity === 'cost_usd' ? usdTick : format;
  const { known, sorted, bins, x, byStatus } = useMemo(() => {
    const known = results.flatMap((result): Known[] => {
      const value = usageOf(result)[quantity];
      return typeof value === 'number' && Number.isFinite(value)
        ? [{ id: caseText(result), status: result.status, value }]
        : [];
    });
    const sorted = known.map(({ value }) => value).sort((a, b) => a - b);
    return {
      known,
      sorted,
      bins: stackedBins(known, sorted),
      x: known.map((_, i) => i + 1),
      byStatus: present(known).map(
        (status): Series => ({
          name: status,
          color: `--solid-${status}`,
          values: known.map((each) => (each.status === status ? each.value : null)),
        }),
      ),
    };
  }, [results, quantity]);
  if (known.length === 0) {
    return (
      <section>
        <h2>{name}</h2>
        <p class="empty">Not recorded for any query.</p>
      </section>
    );
  }
  const isRepeated = hasRepeats(results);
  const facts: [string, string][] = [
    ['known for', `${count(known.length)} of ${count(results.length)}`],
    ['least', format(sorted[0])],
    ['median', format(quantile(sorted, 0.5))],
    ['95 %', format(quantile(sorted, 0.95))],
    ['most', format(sorted.at(-1))],
    [isRepeated ? 'sum of all runs' : 'sum', format(usageInAll(results, quantity).sum)],
  ];
  const each = isRepeated ? `${name} per run` : name;
  const words = facts.map(([what, value]) => `${what} ${value}`).join(', ');
  return (
    <section class="quantity">
      <h2>{name}</h2>
      {isRepeated && (
        <p class="empty">Of each query the mean of its runs; the sum is of all runs.</p>
      )}
      <dl class="stats">
        {facts.map(([what, value]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="columns">
        <Chart
          caption={`${each}: how it is spread`}
          label={`${name}, distribution: ${words}`}
          x={bins.centers}
          series={bins.series}
          kind="bars"
          xLabel={unit}
          yLabel="queries"
          xText={tick}
          yText={(value) => (Number.isInteger(value) ? count(value) : '')}
          table={{
            head: ['Around', ...bins.statuses],
            rows: bins.centers.map((center, i) => [
              tick(center),
              ...bins.statuses.map((status) => count(bins.counts.get(status)![i])),
            ]),
          }}
        />
        <Chart
          caption={`${each} by query, in the order of the spec; a click opens it`}
          label={`${name} by query: ${words}`}
          x={x}
          series={byStatus}
          kind="points"
          xLabel="number of the query"
          yLabel={unit}
          xText={(value) => (Number.isInteger(value) && value > 0 ? count(value) : '')}
          yText={tick}
          onPick={(index) => onOpen(known[index]?.id)}
          table={{
            head: ['Query', 'Status', each],
            rows: known.map(({ id, status, value }) => [id, status, format(value)]),
          }}
        />
      </div>
    </section>
  );
}
