import type { Cell, CheckStatus, QueryResult } from '@agentci/results';
import { pairsText } from '@agentci/results';
import type { Query } from '@agentci/spec';
import { runOf } from '@agentci/testing/run-of';
import { describe, expect, test } from 'vitest';
import { OF_CELLS } from '../baseline/compare-metrics.ts';
import { compareRuns } from '../baseline/compare-runs.ts';
import { cellChecks, compareCells } from './cells.ts';
import { blankResult } from './combine-runs.ts';

const A: Cell = { model: 'a' };
const B: Cell = { model: 'b' };

const query = (id: string, cell: Cell): Query => ({
  id,
  query: id,
  tags: [],
  runs: 1,
  minPassRate: 1,
  cell,
});
const result = (
  id: string,
  cell: Cell,
  status: CheckStatus,
  cost: number | null = 0.01,
): QueryResult => ({
  ...blankResult(query(id, cell)),
  status,
  cost: { status: 'skip', messages: [], checks: [], details: { actual: { cost_usd: cost } } },
});

/** `pf`: passed in A, failed in B. */
const paired = (...pairs: string[]): QueryResult[] =>
  pairs.flatMap((pair, i) =>
    [...pair].map((letter, at) =>
      result(
        `q${i}`,
        at === 0 ? A : B,
        ({ p: 'pass', f: 'fail', e: 'error', s: 'skip' } as const)[letter]!,
      ),
    ),
  );
const times = (n: number, pair: string): string[] => Array.from({ length: n }, () => pair);

describe('each cell against the reference', () => {
  test.each([
    {
      what: 'six lost of twenty',
      pairs: [...times(14, 'pp'), ...times(6, 'pf')],
      verdict: 'worse',
      p: 0.015625,
    },
    { what: 'six won', pairs: [...times(6, 'fp')], verdict: 'better', p: 0.015625 },
    {
      what: '2 lost, 9 won',
      pairs: [...times(2, 'pf'), ...times(9, 'fp')],
      verdict: 'better',
      p: 0.0385742,
    },
    {
      what: 'three lost',
      pairs: [...times(7, 'pp'), ...times(3, 'pf')],
      verdict: 'inconclusive',
      p: 0.125,
    },
    {
      what: 'five each way',
      pairs: [...times(5, 'pf'), ...times(5, 'fp')],
      verdict: 'inconclusive',
      p: 0.8769531,
    },
    { what: 'no difference', pairs: times(9, 'pp'), verdict: 'inconclusive', p: 1 },
  ])('$what: $verdict', ({ pairs, verdict, p }) => {
    const [comparison] = compareCells(paired(...pairs), [A, B], undefined).cell_comparisons;
    expect(comparison).toMatchObject({ cell: B, reference: A, pairs: pairs.length, verdict });
    expect(comparison!.p).toBeCloseTo(p, 6);
    expect(comparison!.interval!.low).toBeLessThanOrEqual(comparison!.difference!);
    expect(comparison!.interval!.high).toBeGreaterThanOrEqual(comparison!.difference!);
  });

  test('an open question reports the number of further queries it needs, if a difference was seen', () => {
    const of = (...pairs: string[]) =>
      compareCells(paired(...pairs), [A, B], undefined).cell_comparisons[0]!;
    // (1.96·√.3 + .8416·√(.3−.09))² / .09 = 23.7, so 24 in total.
    expect(of(...times(7, 'pp'), ...times(3, 'pf')).more_queries).toBe(14);
    expect(of(...times(9, 'pp')).more_queries).toBeNull();
  });

  test('repeats: pairs are of runs, and Compare asks for as many queries in the same words', () => {
    const twice = (results: QueryResult[]): QueryResult[] =>
      results.map((each) => ({
        ...each,
        runs: [1, 2].map(() => ({ status: each.status })) as QueryResult['runs'] & {},
      }));
    const results = twice(paired(...times(7, 'pp'), 'pf'));
    const [found] = compareCells(results, [A, B], undefined).cell_comparisons;
    expect(found).toMatchObject({ pairs: 16, queries: 8, more_queries: expect.any(Number) });
    expect(pairsText(found!)).toBe('16 pairs of runs of 8 queries');
    const of = (cell: object) => ({
      ...runOf([]),
      results: results.flatMap(({ cell: own, ...rest }) => (own === cell ? [rest] : [])),
    });
    const { headline } = compareRuns({ before: of(A), after: of(B), ...OF_CELLS });
    expect(headline).toContain(
      `(8 queries are too few to tell; about ${8 + found!.more_queries!} could)`,
    );
  });

  test('pairs only queries that both sides decided', () => {
    const [comparison] = compareCells(
      paired('pe', 'ep', 'sp', 'pf'),
      [A, B],
      undefined,
    ).cell_comparisons;
    expect(comparison).toMatchObject({ pairs: 1, lost: 1, won: 0 });
  });

  test('nothing in common is inconclusive, without numbers', () => {
    const [comparison] = compareCells(paired('pe', 'ep'), [A, B], undefined).cell_comparisons;
    expect(comparison).toMatchObject({
      pairs: 0,
      difference: null,
      p: null,
      verdict: 'inconclusive',
    });
  });

  test('runs are paired by their number', () => {
    const runs = (statuses: CheckStatus[]) =>
      statuses.map((status, i) => ({ run: i + 1, status, messages: [], cost_usd: 0.5 }));
    const a = { ...result('q', A, 'pass'), runs: runs(['pass', 'pass', 'error']) };
    const b = { ...result('q', B, 'fail'), runs: runs(['fail', 'pass', 'fail']) };
    const { cells, cell_comparisons } = compareCells([a, b], [A, B], undefined);
    expect(cell_comparisons[0]).toMatchObject({ pairs: 2, lost: 1, won: 0 });
    expect(cells.map(({ cost_usd }) => cost_usd)).toEqual([1.5, 1.5]);
  });

  test.each([
    { what: 'one run each', runs: 1 },
    { what: 'three runs each', runs: 3 },
  ])('the matrix and the comparison of the same two cells say the same: $what', ({ runs }) => {
    const repeated = (results: QueryResult[]) =>
      results.map((each, i) =>
        runs === 1
          ? each
          : {
              ...each,
              runs: Array.from({ length: runs }, (_, run) => ({
                run: run + 1,
                messages: [],
                cost_usd: 0.1,
                status: (run === i % runs ? 'fail' : each.status) as CheckStatus,
              })),
            },
      );
    for (const pairs of [
      [...times(7, 'pp'), ...times(3, 'pf')],
      [...times(2, 'pf'), ...times(9, 'fp')],
      times(6, 'pf'),
      times(4, 'pp'),
      ['pf', 'pp', 'pp', 'pp'],
    ]) {
      const results = repeated(paired(...pairs));
      const cells = compareCells(results, [A, B], undefined).cell_comparisons[0]!;
      const of = (cell: Cell) =>
        runOf([], {
          results: results.filter((each) => each.cell === cell).map(({ cell: _, ...rest }) => rest),
        });
      const [rate] = compareRuns({ before: of(A), after: of(B), ...OF_CELLS }).metrics;
      expect(cells).toMatchObject({ pairs: rate!.pairs, p: rate!.p, verdict: rate!.verdict });
      expect(cells.difference).toBeCloseTo(-rate!.damage.mean, 12);
      expect(cells.interval!.low).toBeCloseTo(-rate!.damage.high!, 12);
      expect(rate!.p_adjusted).toBe(rate!.p);
    }
  });

  test('the interval of a cell belongs to its rate, and repeats of one query do not narrow it like queries', () => {
    const runs = (letters: string) =>
      [...letters].map((letter, i) => ({
        run: i + 1,
        messages: [],
        cost_usd: 0.1,
        status: (letter === 'p' ? 'pass' : 'fail') as CheckStatus,
      }));
    const of = (letters: string, n: number) =>
      Array.from({ length: n }, (_, i) => ({
        ...result(`q${letters}${i}`, A, 'pass'),
        runs: runs(letters),
      }));
    const [cell] = compareCells([...of('ppp', 9), ...of('fff', 3)], [A], undefined).cells;
    expect(cell).toMatchObject({ pass_rate: 0.75, passed_runs: 27, decided_runs: 36 });
    // As wide as for 9 of 12 queries, because all runs of a query agree.
    expect(cell!.interval!.low).toBeLessThan(0.48);
    expect(cell!.interval!.high).toBeGreaterThan(0.9);
  });

  test('the reference is the baseline cell, and without it nothing is compared', () => {
    const results = paired('pf');
    expect(compareCells(results, [A, B], B).cell_comparisons).toMatchObject([
      { cell: A, reference: B, won: 1 },
    ]);
    const onlyB = results.filter(({ cell }) => cell === B);
    expect(compareCells(onlyB, [A, B], A)).toMatchObject({
      cells: [{ cell: B }],
      cell_comparisons: [],
    });
  });
});

test('a cell is summed up: counts, rate, cost', () => {
  const results = [
    result('1', A, 'pass'),
    result('2', A, 'warn', null),
    result('3', A, 'fail'),
    result('4', A, 'error'),
  ];
  expect(compareCells(results, [A, B], undefined).cells).toMatchObject([
    {
      cell: A,
      total: 4,
      passed: 2,
      warned: 1,
      failed: 1,
      errors: 1,
      skipped: 0,
      pass_rate: 2 / 3,
      cost_usd: 0.03,
      unpriced_runs: 1,
    },
  ]);
});

test.each([
  { pairs: times(6, 'pf'), status: 'fail' },
  { pairs: times(6, 'fp'), status: 'pass' },
  { pairs: times(3, 'pf'), status: 'skip' },
])('with a baseline cell $pairs.length pairs of $pairs.0 are: $status', ({ pairs, status }) => {
  const [check] = cellChecks(compareCells(paired(...pairs), [A, B], A), A);
  expect(check).toMatchObject({ id: 'matrix.baseline_cell', status });
  expect(check!.message).toContain('model=b against model=a');
});

test('a query that could not be judged does not count in rates, even if one of its runs passed', () => {
  const runs = [{ status: 'pass' }, { status: 'error' }] as QueryResult['runs'];
  const half = { ...result('1', A, 'error'), ...(runs && { runs }) };
  expect(compareCells([half], [A], undefined).cells).toMatchObject([
    { passed: 0, errors: 1, pass_rate: null },
  ]);
});

test('a run without the reference cell says that nothing was compared', () => {
  const onlyB = paired('pp', 'pp').filter(
    ({ cell }) => cell === B || JSON.stringify(cell) === JSON.stringify(B),
  );
  expect(cellChecks(compareCells(onlyB, [A, B], A), A)).toMatchObject([
    { id: 'matrix.baseline_cell', status: 'skip', skip_reason: 'not_measured' },
  ]);
});
