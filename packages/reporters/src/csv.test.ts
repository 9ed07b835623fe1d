import { reportContext } from '@agentci/testing/report-context';
import { checkOf, runOf } from '@agentci/testing/run-of';
import { expect, test } from 'vitest';
import { reporter } from './csv.ts';
import { reportText } from './reporter.ts';

const rows = (run: ReturnType<typeof runOf>) =>
  reportText(reporter.render(run, reportContext())).split('\r\n').slice(1, -1);
const messageOf = (message: string) =>
  rows(runOf([], { checks: [checkOf('traces.readable', 'error', { message })] }))[0];

test('a row for each check, and one for a query without any', () => {
  const location = { file: 's.yaml', line: 2, column: 3 };
  const run = runOf(
    [
      {
        id: 'a',
        status: 'fail',
        path: [checkOf('path.max_loops', 'fail', { message: 'm', value: 2, limit: [1], location })],
      },
      { id: 'b', status: 'error', error: { kind: 'agent', message: 'boom' } },
      { id: 'c', status: 'skip', not_run: 'stopped' },
      {
        id: 'd',
        status: 'pass',
        cost: [checkOf('cost.max_cost_usd', 'skip', { message: 'm', skip_reason: 'not_measured' })],
      },
    ],
    { checks: [checkOf('traces.readable', 'error', { message: 'cut off' })] },
  );
  expect(rows(run)).toEqual([
    '"demo","run-1","","","","","traces.readable","error",,"cut off",,,,,',
    '"demo","run-1","a","question of a","fail","path","path.max_loops","fail",,"m",2,"[1]","s.yaml",2,3',
    '"demo","run-1","b","question of b","error","","","error","","boom","","","agentci_spec.yaml",4,5',
    '"demo","run-1","c","question of c","skip","","","skip","","stopped","","","agentci_spec.yaml",4,5',
    '"demo","run-1","d","question of d","pass","cost","cost.max_cost_usd","skip","not_measured","m",,,,,',
  ]);
});

test.each([
  { text: 'say "hi", bye', cell: '"say ""hi"", bye"' },
  { text: 'a\nb', cell: '"a b"' },
  { text: '=1+1', cell: `"'=1+1"` },
  { text: '+1', cell: `"'+1"` },
  { text: '-1', cell: `"'-1"` },
  { text: '@SUM(A1)', cell: `"'@SUM(A1)"` },
  { text: '\t=1+1', cell: `"' =1+1"` },
  { text: '\u001b[0m=1+1', cell: `"'=1+1"` },
  { text: '\u200e=1+1', cell: `"'=1+1"` },
  { text: '\0@SUM(A1)', cell: `"'@SUM(A1)"` },
  { text: 'a=1', cell: '"a=1"' },
])('no text is a formula or ends its cell: $cell', ({ text, cell }) => {
  expect(messageOf(text)).toBe(
    `"demo","run-1","","","","","traces.readable","error",,${cell},,,,,`,
  );
});
