import type { CheckStatus, QueryResult } from '@agentci/results';
import type { Query, Suite } from '@agentci/spec';
import { checkOf, runOf } from '@agentci/testing/run-of';
import { expect, test } from 'vitest';
import { Ledger } from './ledger.ts';
import type { RunOptions } from './run-options.ts';

const query = (id: string, rest: Partial<Query> = {}): Query => ({
  id,
  query: id,
  tags: [],
  runs: 1,
  minPassRate: 1,
  ...rest,
});
const result = (
  status: CheckStatus,
  answer = 'ok',
  metrics: QueryResult['metrics'] = {},
): QueryResult =>
  runOf([
    { id: 'a', status, answer, metrics, correctness: [checkOf('correctness.exact_match', status)] },
  ]).results[0]!;
const ledgerOf = (queries: readonly Query[], options: Partial<RunOptions> = {}) =>
  new Ledger({ suite: {} as Suite, ...options }, queries);
const pendingOf = (ledger: Ledger) =>
  ledger.pending().map(({ query: { id }, run }) => `${id}${run}`);

test.each([
  { when: 'nothing is done', options: {}, pending: ['a1', 'b1', 'b2'] },
  {
    when: 'every query is to be run twice',
    options: { runs: 2 },
    pending: ['a1', 'b1', 'a2', 'b2'],
  },
  {
    when: 'some runs were made before',
    options: {
      resumed: [
        { id: 'b', run: 2, result: result('pass') },
        { id: 'gone', run: 1, result: result('fail') },
      ],
    },
    pending: ['a1', 'b1'],
  },
])(
  'all queries run once before any runs a second time, and finished runs are not repeated: $when',
  ({ options, pending }) => {
    expect(pendingOf(ledgerOf([query('a'), query('b', { runs: 2 })], options))).toEqual(pending);
  },
);

test.each<{ what: string; statuses: CheckStatus[]; rest?: Partial<Query>; stops: boolean }>([
  { what: 'a failure', statuses: ['fail'], stops: true },
  { what: 'an error', statuses: ['error'], stops: true },
  { what: 'a warning', statuses: ['warn'], stops: false },
  { what: 'an expected failure', statuses: ['fail'], rest: { xfail: 'known' }, stops: false },
  {
    what: 'an expected failure that passes',
    statuses: ['pass'],
    rest: { xfail: 'known' },
    stops: true,
  },
  {
    what: 'the first of two runs that failed',
    statuses: ['fail'],
    rest: { runs: 2 },
    stops: false,
  },
  { what: 'a second run that failed', statuses: ['pass', 'fail'], rest: { runs: 2 }, stops: true },
  {
    what: 'a failure that min_pass_rate allows',
    statuses: ['fail', 'pass'],
    rest: { runs: 2, minPassRate: 0.5 },
    stops: false,
  },
])('--fail-fast after $what stops: $stops', ({ statuses, rest, stops }) => {
  const one = query('a', rest);
  const ledger = ledgerOf([one, query('b')], { failFast: true });
  for (const [i, status] of statuses.entries()) ledger.add(one, i + 1, result(status));
  expect(ledger.stopped()).toBe(stops);
});

test('a failed run is shown although its query is unfinished, but a passed one is not', () => {
  const [a, b, c] = [query('a', { runs: 2 }), query('b', { runs: 2 }), query('c')];
  const ledger = ledgerOf([a, b, c], { failFast: true });
  ledger.add(a, 1, result('fail', 'wrong'));
  ledger.add(b, 1, result('pass'));
  ledger.add(c, 1, result('fail'));
  expect(ledger.results()).toMatchObject([
    { status: 'fail', answer: 'wrong' },
    { status: 'skip', not_run: 'stopped after the first failure (--fail-fast)' },
    { status: 'fail' },
  ]);
});

test('runs are listed by number, in any order of completion', () => {
  const one = query('a', { runs: 3, minPassRate: 0 });
  const ledger = ledgerOf([one]);
  for (const run of [3, 1, 2]) ledger.add(one, run, result('pass', `answer ${run}`));
  expect(ledger.results()[0]?.runs?.map(({ answer }) => answer)).toEqual([
    'answer 1',
    'answer 2',
    'answer 3',
  ]);
});

test.each([
  { spent: 0.49, stops: false },
  { spent: 0.5, stops: true },
])('--max-cost 0.5 after $spent dollars stops: $stops', ({ spent, stops }) => {
  const ledger = ledgerOf([query('a')], { maxCostUsd: 0.5 });
  ledger.spend(spent);
  expect(ledger.stopped()).toBe(stops);
  if (stops)
    expect(ledger.results()).toMatchObject([
      {
        status: 'error',
        error: { kind: 'budget', message: 'not run: --max-cost 0.5 was reached ($0.5000 spent)' },
      },
    ]);
});

test('a reservation for a call counts until its price is known, then the price counts', () => {
  const ledger = ledgerOf([query('a')], { maxCostUsd: 1 });
  ledger.spend(0.2);
  expect(ledger.reserve(0.5)).toBe(true);
  expect(ledger.reserve(0.5)).toBe(false);
  ledger.settle(0.5, 0.1);
  expect(ledger.reserve(0.7)).toBe(true);
  expect(ledger.reserve(0.1)).toBe(false);
});

test('runs whose cost is not known are counted, since --max-cost cannot hold against them', () => {
  const ledger = ledgerOf([query('a')], { maxCostUsd: 1 });
  ledger.spend(0, false);
  ledger.spend(0, false);
  ledger.spend(0.1);
  expect(ledger.unpricedRuns).toBe(2);
});

test('a metric whose judge was cut off by the user leaves its run open, and a finished one is written down', () => {
  const controller = new AbortController();
  const written: string[] = [];
  const ledger = ledgerOf([query('a'), query('b')], {
    signal: controller.signal,
    sink: { record: ({ id }) => void written.push(id) },
  });
  controller.abort();
  const cut = { faithfulness: { value: null, detail: { judge_error: 'interrupted' } } };
  ledger.add(query('a'), 1, result('error', 'ok', cut));
  ledger.add(query('b'), 1, result('pass'));
  expect(written).toEqual(['b']);
  expect(ledger.results()).toMatchObject([
    { status: 'skip', not_run: 'the run was interrupted' },
    { status: 'pass' },
  ]);
});
