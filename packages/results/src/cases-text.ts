import { plural } from '@agentci/lib/text';
import { type CaseName, cellKey } from './cell.ts';

/**
 * `8 queries`, or `8 queries in 3 cells (24 results)`: the size of a run or spec, in the same words
 * everywhere.
 */
export function casesText(cases: readonly CaseName[]): string {
  const cells = new Set(cases.flatMap(({ cell }) => (cell === undefined ? [] : [cellKey(cell)])))
    .size;
  const queries = plural(new Set(cases.map(({ id }) => id)).size, 'query', 'queries');
  // A single cell, as with --cell, has one result per query.
  return cells > 1
    ? `${queries} in ${plural(cells, 'cell')} (${plural(cases.length, 'result')})`
    : queries;
}
