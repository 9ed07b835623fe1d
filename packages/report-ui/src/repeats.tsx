import type { QueryResult } from '@agentci/results';
import { count, ms, percent, usd } from './format.ts';
import { Status } from './status.tsx';
import { visible } from './visible-text.ts';

/** The repeats of a query, and how much they vary. */
export function Repeats({ result }: { result: QueryResult }) {
  const { runs = [], pass_rate, stability } = result;
  const facts = [
    pass_rate &&
      `${pass_rate.passed} of ${pass_rate.decided} passed, at least ${percent(pass_rate.min)} needed`,
    stability?.class,
    stability?.interval &&
      `95 % interval ${percent(stability.interval.low)} to ${percent(stability.interval.high)}`,
    stability?.flip && `flips: ${stability.flip.source} (${stability.flip.detail})`,
  ].filter((fact): fact is string => typeof fact === 'string');
  return (
    <section>
      <h3>Repeats</h3>
      <p>{visible(facts.join(' · '))}</p>
      <table class="grid cards">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Status</th>
            <th scope="col" class="number">
              Cost
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number">
              Latency
            </th>
            <th scope="col">Findings and answer</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RepeatRow key={run.run} run={run} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function RepeatRow({ run }: { run: NonNullable<QueryResult['runs']>[number] }) {
  return (
    <tr>
      <td data-label="run">{run.run}</td>
      <td>
        <Status status={run.status} />
      </td>
      <td class="number" data-label="cost">
        {usd(run.cost_usd)}
      </td>
      <td class="number" data-label="tokens">
        {count(run.total_tokens)}
      </td>
      <td class="number" data-label="latency">
        {ms(run.latency_ms)}
      </td>
      <td class="wrap">
        {visible([run.error?.message, ...run.messages].filter(Boolean).join('; '))}
        {typeof run.answer === 'string' && (
          <details>
            <summary>answer</summary>
            <pre tabIndex={0}>{visible(run.answer)}</pre>
          </details>
        )}
      </td>
    </tr>
  );
}
