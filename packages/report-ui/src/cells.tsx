import { cellTable } from '../../agentci/src/reporters/cell-tables.ts';
import { caseText, cellText } from '../../agentci/src/results/cell.ts';
import type { QueryResult, RunResult } from '../../agentci/src/results/run-result.ts';
import { usageOf } from './filters.ts';
import { usd } from './format.ts';
import { queryHref } from './router.ts';
import { Status } from './status.tsx';
import { visible } from './visible-text.ts';

/** Beyond this many queries a map of all of them is no longer read; the list below has filters. */
const MAX_QUERIES = 200;

/** The cells of the matrix beside each other, and below them query by query. */
export function Cells({ run }: { run: RunResult }) {
  const table = cellTable(run);
  if (table === undefined) return null;
  return (
    <section aria-labelledby="cells-title">
      <h3 id="cells-title">Cells</h3>
      <div class="scroll">
        <table class="grid">
          <thead>
            <tr>
              {table.head.map((name) => (
                <th scope="col" key={name}>
                  {visible(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map(([name = '', ...cells]) => (
              <tr key={name}>
                <th scope="row">{visible(name)}</th>
                {cells.map((cell, i) => (
                  <td key={`${name}-${i}`}>{visible(cell)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <CellMap run={run} />
    </section>
  );
}

/** Every query in every cell: its verdict, how often it passed, what it cost. */
function CellMap({ run }: { run: RunResult }) {
  const names = (run.cells ?? []).map(({ cell }) => cellText(cell));
  const byId = new Map<string, Map<string, QueryResult>>();
  for (const result of run.results) {
    if (result.cell === undefined) continue;
    const row = byId.get(result.id) ?? new Map<string, QueryResult>();
    row.set(cellText(result.cell), result);
    byId.set(result.id, row);
  }
  const rows = [...byId].slice(0, MAX_QUERIES);
  return (
    <details open={rows.length <= 20}>
      <summary>Query by query</summary>
      <div class="scroll">
        <table class="grid cell-map">
          <caption class="sr">Verdict, pass rate and cost of each query in each cell</caption>
          <thead>
            <tr>
              <th scope="col">query</th>
              {names.map((name) => (
                <th scope="col" key={name}>
                  {visible(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([id, results]) => (
              <tr key={id}>
                <th scope="row">{visible(id)}</th>
                {names.map((name) => (
                  <MapCell key={name} result={results.get(name)} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {byId.size > rows.length && (
        <p class="empty">
          The first {rows.length} of {byId.size} queries; the list below has all.
        </p>
      )}
    </details>
  );
}

function MapCell({ result }: { result: QueryResult | undefined }) {
  if (result === undefined) return <td class="empty">not run</td>;
  const { pass_rate: rate, status } = result;
  const cost = usageOf(result).cost_usd;
  return (
    <td>
      <a href={queryHref(caseText(result))}>
        <Status status={status} {...(rate === undefined ? {} : { label: `${rate.passed}/${rate.decided}` })} />
      </a>{' '}
      {typeof cost === 'number' && <span class="sub">{usd(cost)}</span>}
    </td>
  );
}
