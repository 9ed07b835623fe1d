import type { QueryResult, RunResult } from '@agentci/results';
import { caseText, cellText, isExpectedFailure } from '@agentci/results';
import { useMemo } from 'preact/hooks';
import { usageOf } from './filters.ts';
import { percent, usd } from './format.ts';
import { cellPairHref, queryHref } from './router.ts';
import { SIGNS } from './status.tsx';
import { visible } from './visible-text.ts';

/** A map with more queries is unreadable. The list below has filters. */
const MAX_QUERIES = 200;

interface Row {
  readonly id: string;
  readonly results: ReadonlyMap<string, QueryResult>;
  /** The cells disagree. */
  readonly isSplit: boolean;
}

/**
 * Every query in every cell: its pass rate as color and number, and its cost. A click opens the
 * pair.
 */
export function HeatMap({ run, reference }: { run: RunResult; reference: string | undefined }) {
  const names = (run.cells ?? []).map(({ cell }) => cellText(cell));
  const all = useMemo(() => rowsOf(run), [run]);
  const rows = all.slice(0, MAX_QUERIES);
  return (
    <details class="heat" open={rows.length <= 40}>
      <summary>Query by query; where cells disagree first</summary>
      <div class="scroll" tabIndex={0} role="group" aria-label="Query by query">
        <table class="heat-map">
          <caption class="sr">Pass rate and cost of each query in each cell</caption>
          <thead>
            <tr>
              <th scope="col">query</th>
              {names.map((name) => (
                <th scope="col" key={name}>
                  {visible(name)}
                  {name === reference && <span class="sub"> (reference)</span>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, results }) => (
              <tr key={id}>
                <th scope="row">{visible(id)}</th>
                {names.map((name) => (
                  <HeatCell
                    key={name}
                    result={results.get(name)}
                    other={
                      reference === undefined || name === reference
                        ? undefined
                        : results.get(reference)
                    }
                    reference={reference}
                    name={name}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {all.length > rows.length && (
        <p class="empty">
          {rows.length} of {all.length} queries; the list below has all.
        </p>
      )}
    </details>
  );
}

function rowsOf(run: RunResult): Row[] {
  const byId = new Map<string, Map<string, QueryResult>>();
  for (const result of run.results) {
    if (result.cell === undefined) continue;
    const row = byId.get(result.id) ?? new Map<string, QueryResult>();
    row.set(cellText(result.cell), result);
    byId.set(result.id, row);
  }
  return [...byId]
    .map(([id, results]) => ({
      id,
      results,
      isSplit: new Set([...results.values()].map(rateOf)).size > 1,
    }))
    .sort((a, b) => Number(b.isSplit) - Number(a.isSplit));
}

/** The pass rate of decided repeats. `null` if none was decided. */
function rateOf(result: QueryResult): number | null {
  if (isExpectedFailure(result)) return null;
  const { pass_rate: rate, status, xfail } = result;
  if (rate !== undefined) return rate.decided === 0 ? null : rate.passed / rate.decided;
  const own = xfail?.status ?? status;
  if (own === 'pass' || own === 'warn') return 1;
  if (own === 'fail') return 0;
  return null;
}

function HeatCell({
  result,
  other,
  reference,
  name,
}: {
  result: QueryResult | undefined;
  other: QueryResult | undefined;
  reference: string | undefined;
  name: string;
}) {
  if (result === undefined) return <td class="empty">not run</td>;
  const rate = rateOf(result);
  const was = other === undefined ? null : rateOf(other);
  const change = rate === null || was === null ? 0 : rate - was;
  const cost = usageOf(result).cost_usd;
  const href =
    other === undefined || reference === undefined
      ? queryHref(caseText(result))
      : cellPairHref(reference, name, result.id);
  return (
    <td
      class={`rate ${rate === null ? 'unknown' : ''}`}
      style={rate === null ? {} : { '--rate': rate }}
    >
      <a href={href} title={other === undefined ? 'open the query' : 'open next to the reference'}>
        <strong>
          {SIGNS[result.status]} {rate === null ? result.status : percent(rate)}
        </strong>
        {result.pass_rate !== undefined && (
          <small>
            {result.pass_rate.passed} of {result.pass_rate.decided}
          </small>
        )}
        {change !== 0 && (
          <small>{`${change > 0 ? '▲ +' : '▼ −'}${Math.round(100 * Math.abs(change))} points`}</small>
        )}
        {typeof cost === 'number' && (
          <small>
            {usd(cost)}
            {(result.runs?.length ?? 1) > 1 && ' per run'}
          </small>
        )}
      </a>
    </td>
  );
}
