import { plural } from '@agentci/lib/text';
import { type CaseName, cellKey } from './cell.ts';

/** `8 queries`, or `8 queries in 3 cells (24 results)`: how much a run or a spec is, in the same words everywhere. */
export function casesText(cases: readonly CaseName[]): string {
  const cells = new Set(cases.flatMap(({ cell }) => (cell === undefined ? [] : [cellKey(cell)])))
    .size;
  const queries = plural(new Set(cases.map(({ id }) => id)).size, 'query', 'queries');
  // A cell alone, as with --cell, has one result of each query.
  return cells > 1
    ? `${queries} in ${plural(cells, 'cell')} (${plural(cases.length, 'result')})`
    : queries;
}
