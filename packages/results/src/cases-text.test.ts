import { expect, test } from 'vitest';
import { casesText } from './cases-text.ts';

const ids = (...names: string[]) => names.map((id) => ({ id }));
const across = (names: string[], models: string[]) =>
  models.flatMap((model) => names.map((id) => ({ id, cell: { model } })));

test.each([
  { what: 'nothing', cases: [], text: '0 queries' },
  { what: 'no matrix', cases: ids('a', 'b'), text: '2 queries' },
  {
    what: 'a matrix',
    cases: across(['a', 'b'], ['x', 'y', 'z']),
    text: '2 queries in 3 cells (6 results)',
  },
  { what: 'one cell of it', cases: across(['a', 'b'], ['x']), text: '2 queries' },
  {
    what: 'a query that is not in all cells',
    cases: [...across(['a'], ['x', 'y']), ...across(['b'], ['x'])],
    text: '2 queries in 2 cells (3 results)',
  },
])('$what: $text', ({ cases, text }) => {
  expect(casesText(cases)).toBe(text);
});
