import type { CheckStatus, MetricDelta } from '@agentci/results';
import vectors from '@agentci/testing/vectors/diff.json' with { type: 'json' };
import { simpleTrace } from '@agentci/trace';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { align } from '../baseline/align.ts';
import { metricDelta } from '../baseline/metric-delta.ts';
import { regressionsOf } from '../baseline/regressions.ts';
import { diffTraces } from './diff-traces.ts';

interface Row {
  readonly id: string;
  readonly kind: string;
  readonly input: Record<string, unknown>;
  readonly expected: Record<string, unknown>;
}
const rows = (kind: string) => (vectors as Row[]).filter((row) => row.kind === kind);

test.each(rows('diff.metric_delta'))('$id: a number before and after', ({ input, expected }) => {
  const delta = metricDelta(input.before as number, input.after as number);
  expect(delta.arrow).toBe(expected.arrow);
  if (expected.pct_change === null) expect(delta.pct_change).toBeNull();
  else expect(delta.pct_change).toBeCloseTo(expected.pct_change as number, 9);
});

test.each(rows('diff.traces'))('$id: $expected.diff_types', ({ input, expected }) => {
  expect(
    diffTraces({ before: simpleTrace(input.before), after: simpleTrace(input.after) }),
  ).toMatchObject(expected);
});

test.each(rows('diff.has_regression'))(
  '$id: what counts as a regression',
  ({ input, expected }) => {
    const [before, after] = input.correctness as [CheckStatus, CheckStatus];
    const [from, to] = (input.tool_calls as [number, number] | null) ?? [null, null];
    const diff = diffTraces({ before: simpleTrace('a'), after: simpleTrace('a') });
    const found = regressionsOf(
      {
        verdict: {
          ...diff.verdict,
          layers: { ...diff.verdict.layers, correctness: { before, after } },
        },
        path: { ...diff.path, tool_calls: metricDelta(from, to) },
        cost: diff.cost,
      },
      { correctness: [], path: [], cost: [] },
      undefined,
    );
    expect(found.length > 0).toBe(expected.has_regression);
  },
);

const call = fc.record({
  name: fc.constantFrom('search', 'book', 'cancel'),
  args: fc.dictionary(
    fc.constantFrom('q', 'n', '__proto__', 'constructor'),
    fc.oneof(fc.string(), fc.integer(), fc.array(fc.integer(), { maxLength: 2 })),
    {
      maxKeys: 2,
    },
  ),
});
const recording = fc.record(
  {
    answer: fc.string({ maxLength: 40 }),
    tool_calls: fc.array(call, { maxLength: 8 }),
    handoffs: fc.array(
      fc.record({ from: fc.constantFrom('a', 'b'), to: fc.constantFrom('c', 'd') }),
      { maxLength: 3 },
    ),
    cost_usd: fc.double({ min: 0, max: 5, noNaN: true }),
    total_tokens: fc.nat(5000),
    latency_ms: fc.nat(9000),
    llm_calls: fc.array(fc.record({ model: fc.constant('m') }), { maxLength: 4 }),
  },
  { requiredKeys: ['answer'] },
);
const query = {
  correctness: { expected_in_answer: ['a'] },
  path: { expected_tools: ['search', 'book'] },
};

describe('algebra', () => {
  test('a trace does not differ from itself', () => {
    fc.assert(
      fc.property(recording, (one) => {
        const diff = diffTraces({
          before: simpleTrace(one),
          after: simpleTrace(one),
          query,
          maxRegressionPercent: 0,
        });
        expect(diff).toMatchObject({
          diff_types: [],
          layers: [],
          regressions: [],
          has_regression: false,
        });
        expect([...diff.path.tools, ...diff.path.routes].every(({ op }) => op === 'keep')).toBe(
          true,
        );
      }),
    );
  });

  test('turning the sides round turns the diff round', () => {
    const turned = { keep: 'keep', delete: 'insert', insert: 'delete' } as const;
    fc.assert(
      fc.property(recording, recording, (one, other) => {
        const there = diffTraces({ before: simpleTrace(one), after: simpleTrace(other), query });
        const back = diffTraces({ before: simpleTrace(other), after: simpleTrace(one), query });
        expect(back.diff_types).toEqual(there.diff_types);
        expect(back.layers).toEqual(there.layers);
        expect(back.correctness).toMatchObject({
          before: there.correctness.after,
          after: there.correctness.before,
        });
        expect(back.path.similarity).toBe(there.path.similarity);
        const deltas = (diff: typeof there) =>
          Object.entries({ ...diff.path, ...diff.cost }).filter(
            (entry): entry is [string, MetricDelta] => {
              const [, value] = entry;
              return value !== null && typeof value === 'object' && 'arrow' in value;
            },
          );
        for (const [i, [name, delta]] of deltas(there).entries()) {
          expect(deltas(back)[i]).toEqual([
            name,
            expect.objectContaining({ before: delta.after, after: delta.before }),
          ]);
        }
        const multiset = (
          edits: readonly { op: keyof typeof turned; text: string }[],
          turn: boolean,
        ) => edits.map(({ op, text }) => `${turn ? turned[op] : op} ${text}`).sort();
        for (const list of ['tools', 'routes'] as const) {
          expect(multiset(back.path[list], true)).toEqual(multiset(there.path[list], false));
        }
        expect(multiset(back.correctness.answer.edits, true).join('').length).toBe(
          multiset(there.correctness.answer.edits, false).join('').length,
        );
        expect(back.path.arguments).toEqual(
          there.path.arguments.map(({ before, after, before_call, after_call, ...rest }) =>
            expect.objectContaining({ ...rest, before_call: after_call, after_call: before_call }),
          ),
        );
      }),
    );
  });

  test('an alignment contains both sides, and its kept part is a longest common subsequence', () => {
    const names = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
    fc.assert(
      fc.property(names, names, (a, b) => {
        const edits = align(a, b);
        expect(edits.filter(({ op }) => op !== 'insert').map(({ text }) => text)).toEqual(a);
        expect(edits.filter(({ op }) => op !== 'delete').map(({ text }) => text)).toEqual(b);
      }),
    );
  });
});

describe('three layers', () => {
  const before = simpleTrace({
    answer: 'It is sunny in Tokyo',
    tool_calls: [
      ...Array.from({ length: 4 }, () => ({ name: 'search', args: { q: 'weather' } })),
      { name: 'fetch', args: { n: 1 } },
    ],
    handoffs: [{ from: 'Triage', to: 'Weather' }],
    cost_usd: 0.008,
    total_tokens: 4200,
    latency_ms: 8200,
  });
  const after = simpleTrace({
    answer: 'That is outside my scope',
    tool_calls: [{ name: 'search', args: { q: 'weather in Tokyo' } }],
    handoffs: [{ from: 'Triage', to: 'Docs' }],
    cost_usd: 0.0001,
    total_tokens: 180,
    latency_ms: 1100,
  });
  const weather = { correctness: { not_in_answer: ['sunny'] }, path: { max_tool_calls: 0 } };

  test('every tier has its numbers', () => {
    const diff = diffTraces({ before, after, query: weather });
    expect(diff.diff_types).toEqual([
      'output_changed',
      'tools_changed',
      'args_changed',
      'routing_changed',
      'cost_changed',
      'latency_changed',
    ]);
    expect(diff.correctness).toMatchObject({
      before: 'fail',
      after: 'pass',
      changed: true,
      checks: [{ id: 'correctness.not_in_answer', before: 'fail', after: 'pass' }],
    });
    expect(diff.path).toMatchObject({
      tool_calls: { before: 5, after: 1, arrow: '▼' },
      tool_precision: { before: 0, after: 0 },
      tool_recall: { before: 1, after: 1, arrow: '—' },
      loops: { before: 3, after: 0 },
      routes: [
        { op: 'delete', text: 'Triage → Weather' },
        { op: 'insert', text: 'Triage → Docs' },
      ],
      arguments: [{ tool: 'search', path: 'q', before: 'weather', after: 'weather in Tokyo' }],
    });
    expect(diff.cost.cost_usd.pct_change).toBeCloseTo(-98.75, 6);
    expect(diff.has_regression).toBe(false);
  });

  test('the other way round, correctness is a regression, and with a limit the growth is too', () => {
    const back = { before: after, after: before, query: weather };
    expect(diffTraces(back).regressions).toMatchObject([
      { layer: 'correctness', metric: 'correctness' },
    ]);
    expect(
      diffTraces({ ...back, maxRegressionPercent: 50 }).regressions.map(({ metric }) => metric),
    ).toEqual(['correctness', 'tool_calls', 'cost_usd', 'total_tokens', 'latency_ms']);
  });

  test('growth exactly at the limit is allowed, and growth from zero is flagged', () => {
    const grown = (from: number, to: number) =>
      diffTraces({
        before: simpleTrace({ answer: 'x', cost_usd: from }),
        after: simpleTrace({ answer: 'x', cost_usd: to }),
        maxRegressionPercent: 20,
      }).regressions;
    expect(grown(0.3, 0.36)).toEqual([]);
    expect(grown(0.3, 0.37)).toMatchObject([{ metric: 'cost_usd', limit_percent: 20 }]);
    expect(grown(0, 0.1)).toMatchObject([
      { metric: 'cost_usd', pct_change: null, reason: 'zero_baseline' },
    ]);
  });

  test('uncaptured data is unknown and never reported as a difference', () => {
    const diff = diffTraces({
      before: simpleTrace('x'),
      after: simpleTrace({ answer: 'x', tool_calls: [{ name: 'a' }] }),
    });
    expect(diff.diff_types).toEqual([]);
    expect(diff.path).toMatchObject({
      tool_calls: { before: null, after: 1, pct_change: null },
      similarity: null,
      tools: [],
    });
  });

  test.each([
    {
      what: 'an answer of an earlier turn',
      change: { 0: { answer: 'another' } },
      types: ['output_changed'],
    },
    { what: 'the last answer', change: { 2: { answer: 'another' } }, types: ['output_changed'] },
    {
      what: 'a call that moved to another turn',
      change: { 1: { tool_calls: [] }, 2: { tool_calls: [{ name: 'lookup' }] } },
      types: ['sequence_changed'],
    },
    { what: 'a call that is gone', change: { 1: { tool_calls: [] } }, types: ['tools_changed'] },
    { what: 'nothing', change: {}, types: [] },
  ])('of a conversation every turn is compared: $what', ({ change, types }) => {
    const turns: Record<string, unknown>[] = [1, 2, 3].map((turn) => ({
      user: `message ${turn}`,
      answer: `answer ${turn}`,
      tool_calls: turn === 2 ? [{ name: 'lookup' }] : [],
    }));
    const after = turns.map((turn, i) => ({ ...turn, ...(change as Record<number, object>)[i] }));
    const diff = diffTraces({
      before: simpleTrace({ turns }),
      after: simpleTrace({ turns: after }),
    });
    expect(diff.diff_types).toEqual(types);
  });

  test('a huge answer and a long path are bounded', () => {
    const long = (word: string) =>
      simpleTrace({
        answer: `${word} `.repeat(50_000),
        tool_calls: Array.from({ length: 3000 }, (_, i) => ({ name: `${word}${i}` })),
      });
    const diff = diffTraces({ before: long('a'), after: long('b') });
    expect(diff.correctness.answer).toMatchObject({ changed: true, shortened: true });
    expect(diff.path.tools).toHaveLength(6000);
  });
});
