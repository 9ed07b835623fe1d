import { useState } from 'preact/hooks';
import { count } from './format.ts';
import { Plot, type PlotProps } from './plot.tsx';
import { visible } from './visible-text.ts';

const MAX_ROWS = 500;

interface TableData {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A chart with title, legend and a table of its numbers. */
export function Chart({
  caption,
  table,
  ...plot
}: PlotProps & { caption: string; table: TableData }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <figure class="chart">
      <figcaption>{caption}</figcaption>
      <Plot {...plot} />
      {plot.series.length > 1 && (
        <p class="legend">
          {byName(plot.series).map(({ name, color }) => (
            <span class="key" key={name}>
              <span class="swatch" style={{ background: `var(${color})` }} aria-hidden="true" />{' '}
              {name}
            </span>
          ))}
        </p>
      )}
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>as a table</summary>
        {isOpen && <ChartTable {...table} caption={caption} />}
      </details>
    </figure>
  );
}

/** Charts draw in different orders, but the legend has a fixed one. */
const byName = (series: PlotProps['series']) =>
  [...series].sort((a, b) => (a.name < b.name ? -1 : 1));

function ChartTable({ head, rows, caption }: TableData & { caption: string }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={`${caption}, as a table`}>
      <table class="grid">
        <thead>
          <tr>
            {head.map((name, i) => (
              <th scope="col" key={name} class={i === 0 ? '' : 'number'}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map((cells, i) => (
            <tr key={i}>
              {cells.map((cell, j) => (
                <td key={j} class={j === 0 ? 'wrap' : 'number'}>
                  {visible(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MAX_ROWS && <p class="empty">and {count(rows.length - MAX_ROWS)} more</p>}
    </div>
  );
}
