import { useMemo } from 'preact/hooks';
import { caseText } from '../../agentci/src/results/cell.ts';
import type { QueryResult } from '../../agentci/src/results/run-result.ts';
import { usageOf } from './filters.ts';
import { count, FORMATS, quantile, usdTick } from './format.ts';
import { histogram } from './histogram.ts';
import { Plot } from './plot.tsx';

const QUANTITIES = [
  ['cost_usd', 'Cost'],
  ['latency_ms', 'Latency'],
  ['total_tokens', 'Tokens'],
] as const;

/** Cost, latency and tokens: how they are spread, and query by query. */
export function Charts({
  results,
  onOpen,
}: {
  results: readonly QueryResult[];
  onOpen: (id: string | undefined) => void;
}) {
  return (
    <>
      {QUANTITIES.map(([key, name]) => (
        <Quantity key={key} quantity={key} name={name} results={results} onOpen={onOpen} />
      ))}
    </>
  );
}

function Quantity({
  quantity,
  name,
  results,
  onOpen,
}: {
  quantity: (typeof QUANTITIES)[number][0];
  name: string;
  results: readonly QueryResult[];
  onOpen: (id: string | undefined) => void;
}) {
  const format = FORMATS[quantity];
  const tick = quantity === 'cost_usd' ? usdTick : format;
  const { known, sorted, bins, perQuery } = useMemo(() => {
    const known = results.flatMap((result) => {
      const value = usageOf(result)[quantity];
      return typeof value === 'number' && Number.isFinite(value) ? [{ id: caseText(result), value }] : [];
    });
    const sorted = known.map(({ value }) => value).sort((a, b) => a - b);
    const { centers, counts } = histogram(sorted);
    return {
      known,
      sorted,
      bins: [centers, counts] as [number[], number[]],
      perQuery: [known.map((_, i) => i + 1), known.map(({ value }) => value)] as [number[], number[]],
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
  const facts: [string, string][] = [
    ['known for', `${count(known.length)} of ${count(results.length)}`],
    ['least', format(sorted[0])],
    ['median', format(quantile(sorted, 0.5))],
    ['95 %', format(quantile(sorted, 0.95))],
    ['most', format(sorted.at(-1))],
    ['sum', format(sorted.reduce((a, b) => a + b, 0))],
  ];
  const words = facts.map(([what, value]) => `${what} ${value}`).join(', ');
  return (
    <section class="quantity">
      <h2>{name}</h2>
      <dl class="stats">
        {facts.map(([what, value]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="columns">
        <figure>
          <figcaption>Distribution (number of queries)</figcaption>
          <Plot label={`${name}, distribution: ${words}`} data={bins} kind="bars" xText={tick} yText={count} />
        </figure>
        <figure>
          <figcaption>By query, in the order of the spec; a click opens it</figcaption>
          <Plot
            label={`${name} by query: ${words}`}
            data={perQuery}
            kind="points"
            xText={(value) => (Number.isInteger(value) && value > 0 ? count(value) : '')}
            yText={tick}
            onPick={(index) => onOpen(known[index]?.id)}
          />
        </figure>
      </div>
    </section>
  );
}
