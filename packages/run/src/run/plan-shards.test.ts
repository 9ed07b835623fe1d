import type { Query } from '@agentci/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planShards, queriesOfShard } from './plan-shards.ts';

const query = (id: string, runs = 1): Query =>
  ({ id, query: id, tags: [], runs }) as unknown as Query;
const planOf = (
  queries: readonly Query[],
  count: number,
  timings: ReadonlyMap<string, number> = new Map(),
) => planShards({ specHash: 'h', queries, runsOf: ({ runs }) => runs, index: 1, count, timings });

test('every query is in exactly one shard, for any timings', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.double({ min: 0, max: 1e6, noNaN: true })),
      (ids, count, times) => {
        const timings = new Map(
          ids.flatMap((id, i) => (times[i] === undefined ? [] : [[id, times[i]] as const])),
        );
        const { shards } = planOf(
          ids.map((id) => query(id)),
          count,
          timings,
        );
        expect(shards).toHaveLength(count);
        expect(shards.flat().sort()).toEqual([...ids].sort());
      },
    ),
  );
});

test('queries without timings are dealt out evenly, and one without a timing counts as the median', () => {
  const queries = ['a', 'b', 'c', 'd', 'e'].map((id) => query(id));
  expect(planOf(queries, 2).shards).toEqual([
    ['a', 'c', 'e'],
    ['b', 'd'],
  ]);
  const timings = new Map([
    ['a', 100],
    ['b', 10],
    ['c', 10],
  ]);
  expect(planOf(queries, 2, timings).shards).toEqual([['a'], ['b', 'c', 'd', 'e']]);
});

test.each([
  { what: 'another spec', change: { specHash: 'other' } },
  { what: 'another number of runs', change: { runsOf: () => 2 } },
  { what: 'another selection', change: { queries: [query('a')] } },
  {
    what: 'other timings',
    change: {
      timings: new Map([
        ['b', 50],
        ['a', 1],
      ]),
    },
  },
  { what: 'another number of shards', change: { count: 3 } },
])('$what makes another plan', ({ change }) => {
  const input = {
    specHash: 'h',
    queries: [query('a'), query('b'), query('c')],
    runsOf: () => 1,
    index: 1,
    count: 2,
    timings: new Map<string, number>(),
  };
  expect(planShards({ ...input, ...change }).hash).not.toBe(planShards(input).hash);
  expect(planShards({ ...input, index: 2 }).hash).toBe(planShards(input).hash);
});

test('all cells and runs of a query stay together', () => {
  const cells = ['a', 'b', 'c'].flatMap((id) =>
    [1, 2].map((n) => ({ ...query(id), cell: { n: String(n) } }) as Query),
  );
  const plan = planOf(cells, 3);
  expect(queriesOfShard(cells, plan).map(({ id }) => id)).toEqual(['a', 'a']);
});
