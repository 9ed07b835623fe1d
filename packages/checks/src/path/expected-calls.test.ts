import { describeCheck, evaluate } from '@agentci/testing/check-cases';
import { createTrajectoryMatchEvaluator } from 'agentevals';
import { describe, expect, test } from 'vitest';
import { alignCalls, CALL_MODES } from '../align-calls.ts';
import { check } from './expected-calls.ts';

interface Call {
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
}
const run = (...tool_calls: readonly unknown[]) => ({ answer: 'ok', tool_calls });
const a = { name: 'a', args: { x: 1 } };
const b = { name: 'b', args: { y: 2, z: 3 } };
const block = (calls: readonly unknown[], rest: object = {}) => ({
  expected_calls: { calls, ...rest },
});
const A = { tool: 'a', args: { x: 1 } };
const B = { tool: 'b', args: { y: 2 } };

describeCheck(check, {
  sample: { params: { calls: [A, B] }, keeps: run(a, b), breaks: run(b, a) },
  verdicts: [
    {
      when: 'others may come between',
      block: block([A, B]),
      run: run(a, { name: 'c' }, b),
      status: 'pass',
    },
    {
      when: 'exact minds others',
      block: block([A, B], { mode: 'exact' }),
      run: run(a, { name: 'c' }, b),
      status: 'warn',
    },
    {
      when: 'any order',
      block: block([B, A], { mode: 'any_order' }),
      run: run(a, { name: 'c' }, b),
      status: 'pass',
    },
    {
      when: 'unordered minds others',
      block: block([B, A], { mode: 'unordered' }),
      run: run(a, { name: 'c' }, b),
      status: 'warn',
    },
    {
      when: 'unordered',
      block: block([B, A], { mode: 'unordered' }),
      run: run(a, b),
      status: 'pass',
    },
    { when: 'only these', block: block([A, B], { mode: 'only' }), run: run(a, a), status: 'pass' },
    { when: 'not only these', block: block([A], { mode: 'only' }), run: run(a, b), status: 'warn' },
    { when: 'no calls with only', block: block([A], { mode: 'only' }), run: run(), status: 'pass' },
    {
      when: 'no call may be made',
      block: block([], { mode: 'exact' }),
      run: run(a),
      status: 'warn',
    },
    { when: 'no call was made', block: block([], { mode: 'exact' }), run: run(), status: 'pass' },
    {
      when: 'a call counts once',
      block: block([A, A], { mode: 'any_order' }),
      run: run(a),
      status: 'warn',
    },
    { when: 'more arguments in the call', block: block([B]), run: run(b), status: 'pass' },
    {
      when: 'more arguments, compared exactly',
      block: block([B], { args: 'exact' }),
      run: run(b),
      status: 'warn',
    },
    {
      when: 'fewer arguments in the call',
      block: block([{ tool: 'a', args: { x: 1, w: 0 } }], { args: 'superset' }),
      run: run(a),
      status: 'pass',
    },
    {
      when: 'an argument that is not expected',
      block: block([{ tool: 'a', args: { w: 0 } }], { args: 'superset' }),
      run: run(a),
      status: 'warn',
    },
    {
      when: 'one call compared in its own way',
      block: block([{ ...B, args_match: 'exact' }, A], { mode: 'any_order' }),
      run: run(a, b),
      status: 'warn',
    },
    {
      when: 'matchers',
      block: block(
        [
          {
            tool: 'b',
            args: { y: { one_of: [1, 2] }, z: { tolerance: { value: 2.9, abs: 0.2 } } },
          },
        ],
        {
          args: 'exact',
        },
      ),
      run: run(b),
      status: 'pass',
    },
    {
      when: 'a glob',
      block: block([{ tool: 'search_*' }]),
      run: run({ name: 'search_web' }),
      status: 'pass',
    },
    {
      when: 'the name of its server',
      block: block([{ tool: 'read' }]),
      run: run({ name: 'mcp__fs__read' }),
      status: 'pass',
    },
    {
      when: 'the name as recorded',
      block: block([{ tool: 'mcp__fs__*' }]),
      run: run({ name: 'mcp__fs__read' }),
      status: 'pass',
    },
    {
      when: 'partial credit that is enough',
      block: block([A, B, { tool: 'c' }], { min: 0.6 }),
      run: run(a, b),
      status: 'pass',
    },
    {
      when: 'partial credit that is not',
      block: block([A, B, { tool: 'c' }], { min: 0.7 }),
      run: run(a, b),
      status: 'warn',
    },
    {
      when: 'arguments that were not captured',
      block: block([A]),
      run: run({ name: 'a' }),
      status: 'skip: not_measured',
    },
    {
      when: 'arguments that are not compared',
      block: block([{ tool: 'a' }]),
      run: run({ name: 'a' }),
      status: 'pass',
    },
    {
      when: 'the first that fits is needed elsewhere',
      block: block([{ tool: '*' }, { tool: 'a' }], { mode: 'any_order' }),
      run: run({ name: 'a' }, { name: 'b' }),
      status: 'pass',
    },
  ],
  inPart: [
    { block: block([A]), run: run(a), status: 'pass' },
    { block: block([A, B]), run: run(a), status: 'skip: not_measured' },
    { block: block([A], { mode: 'only' }), run: run(a), status: 'skip: not_measured' },
    { block: block([A], { mode: 'only' }), run: run(b), status: 'warn' },
    { block: block([A], { mode: 'exact' }), run: run(a), status: 'skip: not_measured' },
    { block: block([A], { mode: 'exact' }), run: run(a, b), status: 'warn' },
  ],
  issues: [
    { block: block([]), found: ['error SPEC_CANNOT_FAIL calls'] },
    { block: block([], { mode: 'only' }), found: [] },
    { block: block([A], { min: 0 }), found: ['warning SPEC_CANNOT_FAIL min'] },
    {
      block: block([{ tool: 'a', args: { x: { regex: '[' } } }]),
      found: ['error SPEC_BAD_PATTERN calls.0.args.x.regex'],
    },
    { block: block([A], { args: 'ignore' }), found: ['warning SPEC_CANNOT_FAIL calls.0.args'] },
    {
      block: block([{ tool: 'a', args_match: 'exact' }]),
      found: [' SPEC_NEEDS_KEY calls.0.args_match'],
    },
  ],
  refuses: [{}, { calls: [{}] }, { calls: [], mode: 'strict' }, { calls: [], min: 2 }, [A]],
});

const WORDS: readonly Call[] = [a, { name: 'a', args: { x: 2 } }, b];
const sequences = (length: number): Call[][] =>
  length === 0
    ? [[]]
    : sequences(length - 1).flatMap((rest) => [rest, ...WORDS.map((word) => [...rest, word])]);
const ALL = [
  ...new Map(sequences(3).map((sequence) => [JSON.stringify(sequence), sequence])).values(),
];

const passes = (mode: string, expected: readonly Call[], made: readonly Call[]): boolean => {
  const calls = expected.map(({ name, args }) => ({ tool: name, args }));
  const result = evaluate('path', { expected_calls: { mode, args: 'exact', calls } }, run(...made));
  return result.checks[0]?.status === 'pass';
};

describe('agrees with agentevals if the modes mean the same', () => {
  const messages = (calls: readonly Call[]) => [
    { role: 'user' as const, content: 'q' },
    ...calls.map(({ name, args }, i) => ({
      role: 'assistant' as const,
      content: '',
      tool_calls: [
        {
          id: `c${i}`,
          type: 'function' as const,
          function: { name, arguments: JSON.stringify(args) },
        },
      ],
    })),
  ];
  test.each([
    { theirs: 'strict' as const, ours: 'exact' },
    { theirs: 'unordered' as const, ours: 'unordered' },
    { theirs: 'superset' as const, ours: 'any_order' },
  ])('$theirs is $ours, arguments exact', async ({ theirs, ours }) => {
    const judge = createTrajectoryMatchEvaluator({
      trajectoryMatchMode: theirs,
      toolArgsMatchMode: 'exact',
    });
    const differ: string[] = [];
    for (const expected of ALL)
      for (const made of ALL) {
        const { score } = await judge({
          outputs: messages(made),
          referenceOutputs: messages(expected),
        });
        if (score !== passes(ours, expected, made))
          differ.push(`${JSON.stringify(expected)} ${JSON.stringify(made)}`);
      }
    expect(differ).toEqual([]);
  });

  test('subset is only, but for calls that are made more often than expected', async () => {
    const judge = createTrajectoryMatchEvaluator({
      trajectoryMatchMode: 'subset',
      toolArgsMatchMode: 'exact',
    });
    const count = (calls: readonly Call[], call: Call) =>
      calls.filter((one) => one === call).length;
    for (const expected of ALL)
      for (const made of ALL) {
        const { score } = await judge({
          outputs: messages(made),
          referenceOutputs: messages(expected),
        });
        const isMore = WORDS.some(
          (word) => count(expected, word) > 0 && count(made, word) > count(expected, word),
        );
        if (!isMore) expect(passes('only', expected, made)).toBe(score);
      }
  });
});

// The three match types of ADK's tool_trajectory_avg_score, by its documentation.
test.each([
  { adk: 'EXACT', ours: 'exact', expected: [a, b], made: [a, b], is: true },
  { adk: 'EXACT', ours: 'exact', expected: [a, b], made: [b, a], is: false },
  { adk: 'EXACT', ours: 'exact', expected: [a, b], made: [a, WORDS[1]!, b], is: false },
  { adk: 'EXACT', ours: 'exact', expected: [a], made: [WORDS[1]!], is: false },
  { adk: 'IN_ORDER', ours: 'in_order', expected: [a, b], made: [a, WORDS[1]!, b], is: true },
  { adk: 'IN_ORDER', ours: 'in_order', expected: [a, b], made: [b, a], is: false },
  { adk: 'IN_ORDER', ours: 'in_order', expected: [a, a], made: [a], is: false },
  { adk: 'ANY_ORDER', ours: 'any_order', expected: [a, b], made: [b, WORDS[1]!, a], is: true },
  { adk: 'ANY_ORDER', ours: 'any_order', expected: [a, a], made: [a, b], is: false },
  { adk: 'ANY_ORDER', ours: 'any_order', expected: [], made: [], is: true },
])('ADK $adk is $ours: $is for $made', ({ ours, expected, made, is }) => {
  if (expected.length > 0) expect(passes(ours, expected, made)).toBe(is);
});

describe('scores', () => {
  const fits = (expected: string, made: string) => (i: number, j: number) =>
    expected[i] === made[j];
  test.each([
    { mode: 'exact', expected: 'abc', made: 'abc', score: 1 },
    { mode: 'exact', expected: 'abc', made: 'axc', score: 2 / 3 },
    { mode: 'exact', expected: 'ab', made: 'abcd', score: 0.5 },
    { mode: 'unordered', expected: 'ab', made: 'bca', score: 0.8 },
    { mode: 'in_order', expected: 'abc', made: 'acb', score: 2 / 3 },
    { mode: 'any_order', expected: 'aab', made: 'ab', score: 2 / 3 },
    { mode: 'only', expected: 'a', made: 'aab', score: 2 / 3 },
    { mode: 'only', expected: 'a', made: '', score: 1 },
  ] as const)('$mode of $expected against $made is $score', ({ mode, expected, made, score }) => {
    expect(alignCalls(mode, expected.length, made.length, fits(expected, made)).score).toBeCloseTo(
      score,
      12,
    );
  });

  test('a thousand calls that all fit take no time to speak of', () => {
    const started = performance.now();
    for (const mode of CALL_MODES)
      expect(alignCalls(mode, 500, 1000, () => true).score).toBeGreaterThan(0);
    expect(performance.now() - started).toBeLessThan(3000);
  });
});
