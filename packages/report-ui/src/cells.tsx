import { cellTable } from '@agentci/reporters/shared';
import type { RunResult } from '@agentci/results';
import { cellText } from '@agentci/results';
import { HeatMap } from './heat-map.tsx';
import { cellPairHref } from './router.ts';
import { visible } from './visible-text.ts';

/** The cells of the matrix side by side, and a table by query below. */
export function Cells({ run }: { run: RunResult }) {
  const table = cellTable(run);
  if (table === undefined) return null;
  const reference = run.cell_comparisons?.[0] && cellText(run.cell_comparisons[0].reference);
  const [, ...columns] = table.head;
  return (
    <section aria-labelledby="cells-title">
      <h3 id="cells-title">Cells</h3>
      <table class="grid cards">
        <thead>
          <tr>
            {table.head.map((name) => (
              <th scope="col" class="wrap" key={name}>
                {visible(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map(([name = '', ...cells]) => (
            <tr key={name}>
              <th scope="row" class="wrap">
                {reference === undefined || name === reference ? (
                  visible(name)
                ) : (
                  <a href={cellPairHref(reference, name)} title="compare with the reference">
                    {visible(name)}
                  </a>
                )}
              </th>
              {cells.map((cell, i) => (
                <td class="wrap" key={`${name}-${i}`} data-label={visible(columns[i] ?? '')}>
                  {visible(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <HeatMap run={run} reference={reference} />
    </section>
  );
}
