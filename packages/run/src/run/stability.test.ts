import type { CheckStatus, QueryResult } from '@agentci/results';
import { exitCode } from '@agentci/results';
import type { Query } from '@agentci/spec';
import { checkOf, runOf } from '@agentci/testing/run-of';
import vectors from '@agentci/testing/vectors/stability.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import { combineRuns } from './combine-runs.ts';
import { flipSource } from './flip-source.ts';
import { stabilityOf } from './stability.ts';

interface Row<Input, Expected> {
  readonly id: string;
  readonly kind: string;
  readonly input: Input;
  readonly expected: Expected;
}
const rows = <Input, Expected>(kind: string) =>
  (vectors as unknown as Row<Input, Expected>[]).filter((row) => row.kind === kind);

const query = (id = 'q', minPassRate = 1): Query => ({
  id,
  query: id,
  tags: [],
  runs: 1,
  minPassRate,
});
const results = (statuses: readonly CheckStatus[], id = 'q'): QueryResult[] =>
  runOf(
    statuses.map((status) => ({
      id,
      status,
      correctness: [checkOf('correctness.exact_match', status)],
    })),
  ).results;

interface Attribution {
  readonly runs: {
    passed: boolean;
    answer: string;
    tools?: string[];
    det?: Record<string, boolean>;
    judge_passed?: boolean;
  }[];
  readonly has_judge: boolean;
}

test.each(rows<Attribution, { flip_source: string | null }>('stability.attribute'))(
  '$id: $expected.flip_source',
  ({ input, expected }) => {
    const found = flipSource(
      input.runs.map(({ passed, answer, tools, det, judge_passed }) => ({
        passed,
        answer,
        ...(tools ? { tools } : {}),
        ...(det ? { checks: det } : {}),
        ...(judge_passed === undefined ? {} : { judgePassed: judge_passed }),
      })),
      { hasJudge: input.has_judge },
    );
    expect(found?.detail ?? null).toBe(expected.flip_source);
  },
);

test.each(
  rows<{ runs: CheckStatus[]; min_pass_rate: number }, { status: string }>('attempts.classify'),
)('$id: $input.runs is $expected.status', ({ input, expected }) => {
  // Zero runs cannot occur: every selected query has at least the error with the reason.
  const statuses: CheckStatus[] = input.runs.length === 0 ? ['error'] : input.runs;
  expect(combineRuns(query('q', input.min_pass_rate), results(statuses)).status).toBe(
    expected.status,
  );
});

test.each(
  rows<
    { verdicts: boolean[] },
    { pass_rate: number; pass_at_k: number; pass_pow_k: number; flipped: boolean }
  >('stability.estimates'),
)('$id: the unbiased estimators', ({ input, expected }) => {
  const found = stabilityOf(results(input.verdicts.map((passed) => (passed ? 'pass' : 'fail'))));
  expect(found.pass_rate).toBeCloseTo(expected.pass_rate, 3);
  expect(found.pass_at_k.at(-1)).toBeCloseTo(expected.pass_at_k, 3);
  expect(found.pass_hat_k.at(-1)).toBeCloseTo(expected.pass_pow_k, 3);
  expect(found.class === 'flaky').toBe(expected.flipped);
});

test.each(
  rows<{ runs: Record<string, boolean>[] }, { status: Record<string, string>; exit_code: number }>(
    'stability.suite',
  ),
)('$id: a steady failure is a failure', ({ input, expected }) => {
  const combined = Object.keys(expected.status).map((id) =>
    combineRuns(
      query(id),
      results(
        input.runs.map((run) => (run[id] ? 'pass' : 'fail')),
        id,
      ),
    ),
  );
  expect(Object.fromEntries(combined.map(({ id, status }) => [id, status]))).toEqual(
    expected.status,
  );
  expect(exitCode({ results: combined, checks: [] })).toBe(expected.exit_code);
});

describe('stability', () => {
  test.each([
    { statuses: ['pass', 'warn', 'pass'], steadiness: 'stable-pass' },
    { statuses: ['fail', 'fail'], steadiness: 'stable-fail' },
    { statuses: ['pass', 'fail', 'error'], steadiness: 'flaky' },
    { statuses: ['error', 'error'], steadiness: null },
  ] as const)('$statuses is $steadiness', ({ statuses, steadiness }) => {
    expect(stabilityOf(results(statuses)).class).toBe(steadiness);
  });

  test('the interval is of the decided runs only', () => {
    expect(stabilityOf(results(['pass', 'fail', 'error'])).interval).toEqual(
      stabilityOf(results(['pass', 'fail'])).interval,
    );
    expect(stabilityOf(results(['error', 'error']))).toMatchObject({
      pass_rate: null,
      interval: null,
      pass_at_k: [],
    });
  });

  const judged = (exact: CheckStatus, judge: CheckStatus, answer: string): QueryResult =>
    runOf([
      {
        id: 'q',
        status: exact === 'fail' || judge === 'fail' ? 'fail' : 'pass',
        answer,
        correctness: [
          checkOf('correctness.exact_match', exact),
          checkOf('correctness.llm_judge', judge),
        ],
      },
    ]).results[0]!;

  test.each([
    {
      what: 'a computed check',
      runs: [judged('pass', 'pass', 'a'), judged('fail', 'skip', 'b')],
      source: 'agent',
    },
    {
      what: 'the judge alone',
      runs: [judged('pass', 'pass', 'a'), judged('pass', 'fail', 'b')],
      source: 'judge',
    },
    {
      what: 'one and then the other',
      runs: [judged('pass', 'pass', 'a'), judged('pass', 'fail', 'a'), judged('fail', 'skip', 'b')],
      source: 'mixed',
    },
    {
      what: 'the network',
      runs: [
        judged('pass', 'pass', 'a'),
        {
          ...judged('pass', 'pass', 'a'),
          status: 'error' as const,
          error: { kind: 'infra' as const, message: 'timeout' },
        },
      ],
      source: 'infra',
    },
  ])('a flip because of $what comes from $source', ({ runs, source }) => {
    expect(stabilityOf(runs).flip?.source).toBe(source);
  });

  test('runs that agree have no flip to explain', () => {
    expect(stabilityOf(results(['pass', 'pass'])).flip).toBeUndefined();
  });

  test('cost and latency spread over the runs that know them', () => {
    const runs = results(['pass', 'pass', 'pass']).map((run, i) => ({
      ...run,
      cost: {
        ...run.cost,
        details: {
          actual: { cost_usd: i === 2 ? null : 0.01 * (i + 1), latency_ms: 100 * (i + 1) },
        },
      },
    }));
    expect(stabilityOf(runs)).toMatchObject({
      cost_usd: { n: 2, min: 0.01, max: 0.02 },
      latency_ms: { n: 3, median: 200, max: 300 },
    });
  });
});
