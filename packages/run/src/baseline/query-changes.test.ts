import { expect, test } from 'vitest';
import { type QueryValues, queryChanges } from './query-changes.ts';

const side = (queries: Record<string, Partial<QueryValues>>): Map<string, QueryValues> =>
  new Map(
    Object.entries(queries).map(([id, values]) => [
      id,
      { cost_usd: [], latency_ms: [], total_tokens: [], ...values },
    ]),
  );
const verdict = (before: number[], after: number[]) =>
  queryChanges(side({ a: { latency_ms: before } }), side({ a: { latency_ms: after } }))[0]?.verdict;

test.each([
  { what: 'one run on each side', before: [100], after: [900], verdict: 'unknown' },
  { what: 'two runs that are alike', before: [100, 100], after: [900, 900], verdict: 'unknown' },
  {
    what: 'repeats that vary more than they moved',
    before: [100, 300, 200],
    after: [150, 350, 220],
    verdict: 'noise',
  },
  {
    what: 'repeats that moved further than they vary',
    before: [100, 110, 105],
    after: [300, 310, 299],
    verdict: 'more',
  },
  {
    what: 'repeats that moved the other way',
    before: [300, 310, 299],
    after: [100, 110, 105],
    verdict: 'less',
  },
  {
    what: 'three runs that are all alike on both sides',
    before: [9, 9, 9],
    after: [12, 12, 12],
    verdict: 'more',
  },
  { what: 'nothing that changed', before: [9, 9], after: [9, 9], verdict: undefined },
  { what: 'a side that does not know', before: [], after: [9], verdict: undefined },
])('$what: $verdict', ({ before, after, verdict: expected }) => {
  expect(verdict(before, after)).toBe(expected);
});

test('the interval is of the difference, and agrees with Welch by hand', () => {
  const [change] = queryChanges(
    side({ a: { cost_usd: [1, 2, 3] } }),
    side({ a: { cost_usd: [4, 5, 6] } }),
  );
  // se = sqrt(1/3 + 1/3), df = 4, t = 2.776445
  expect(change).toMatchObject({ before: 2, after: 5, difference: 3 });
  expect(change!.interval!.low).toBeCloseTo(3 - 2.776445 * Math.sqrt(2 / 3), 4);
  expect(change!.interval!.high).toBeCloseTo(3 + 2.776445 * Math.sqrt(2 / 3), 4);
});

test('what would be a change alone may be chance among many', () => {
  const weak = { latency_ms: [100, 110, 120] };
  const moved = { latency_ms: [130, 140, 125] };
  expect(queryChanges(side({ a: weak }), side({ a: moved }))[0]!.verdict).toBe('more');
  const ids = Array.from({ length: 40 }, (_, i) => `q${i}`);
  const before = side({
    a: weak,
    ...Object.fromEntries(ids.map((id, i) => [id, { latency_ms: [i + 1, i + 9, i + 5] }])),
  });
  const after = side({
    a: moved,
    ...Object.fromEntries(ids.map((id, i) => [id, { latency_ms: [i + 2, i + 8, i + 6] }])),
  });
  expect(queryChanges(before, after).find(({ id }) => id === 'a')!.verdict).toBe('noise');
});
