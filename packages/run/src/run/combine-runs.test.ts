import type { CheckStatus } from '@agentci/results';
import type { Query } from '@agentci/spec';
import { checkOf, runOf } from '@agentci/testing/run-of';
import { expect, test } from 'vitest';
import { combineRuns } from './combine-runs.ts';

const query = (rest: Partial<Query> = {}): Query => ({
  id: 'q',
  query: 'q',
  tags: [],
  runs: 1,
  minPassRate: 1,
  ...rest,
});
const runs = (...statuses: CheckStatus[]) =>
  runOf(
    statuses.map((status, i) => ({
      id: 'q',
      status,
      answer: `answer ${i + 1}`,
      correctness: [checkOf('correctness.exact_match', status)],
    })),
  ).results;

test.each([
  { statuses: ['pass', 'pass'], min: 1, status: 'pass' },
  { statuses: ['pass', 'warn'], min: 1, status: 'warn' },
  { statuses: ['pass', 'fail'], min: 1, status: 'fail' },
  { statuses: ['pass', 'fail'], min: 0.5, status: 'pass' },
  { statuses: ['pass', 'warn', 'fail'], min: 0.6, status: 'warn' },
  { statuses: ['pass', 'error'], min: 1, status: 'error' },
  { statuses: ['fail', 'error'], min: 1, status: 'fail' },
  { statuses: ['fail', 'error', 'pass'], min: 0.5, status: 'error' },
  { statuses: ['error', 'error'], min: 0, status: 'error' },
  { statuses: ['skip', 'skip'], min: 1, status: 'skip' },
] as const)(
  '$statuses with at least $min of them passing is $status',
  ({ statuses, min, status }) => {
    expect(combineRuns(query({ minPassRate: min }), runs(...statuses)).status).toBe(status);
  },
);

test('error runs leave the denominator', () => {
  expect(combineRuns(query(), runs('pass', 'error', 'fail')).pass_rate).toEqual({
    passed: 1,
    decided: 2,
    min: 1,
  });
});

test('shows the answer of the first worst run', () => {
  expect(combineRuns(query(), runs('pass', 'fail', 'fail')).answer).toBe('answer 2');
});

test.each([
  { before: 'fail', after: 'skip' },
  { before: 'pass', after: 'fail' },
  { before: 'warn', after: 'fail' },
  { before: 'error', after: 'error' },
] as const)('an expected failure that is $before becomes $after', ({ before, after }) => {
  const result = combineRuns(query({ xfail: 'known bug' }), runs(before));
  expect(result).toMatchObject({ status: after, xfail: { reason: 'known bug', status: before } });
});

test('each run is summarized: its number, verdict, known usage, and the reason for a failure', () => {
  const [good, bad] = runs('pass', 'fail');
  good!.cost.details.actual = { cost_usd: 0.5, total_tokens: 7, latency_ms: 3 };
  const broken = {
    ...bad!,
    status: 'error' as const,
    error: { kind: 'agent' as const, message: 'boom' },
  };
  expect(combineRuns(query(), [good!, bad!, broken]).runs).toMatchObject([
    {
      run: 1,
      status: 'pass',
      answer: 'answer 1',
      cost_usd: 0.5,
      total_tokens: 7,
      latency_ms: 3,
      messages: [],
    },
    {
      run: 2,
      status: 'fail',
      cost_usd: null,
      total_tokens: null,
      latency_ms: null,
      messages: ['correctness.exact_match is fail'],
    },
    { run: 3, status: 'error', error: { message: 'boom' } },
  ]);
});

test('an expected failure that passes fails by a check at the line that expects it', () => {
  const spec = { file: 's.yaml', line: 3, column: 1 };
  const noted = query({
    xfail: 'known bug',
    location: spec,
    locations: { xfail: { ...spec, line: 9 } },
  });
  expect(combineRuns(noted, runs('pass')).correctness).toMatchObject({
    status: 'fail',
    messages: ['expected to fail (known bug) but it passes: remove xfail'],
    checks: [
      { status: 'pass' },
      { id: 'correctness.xfail', status: 'fail', location: { line: 9 } },
    ],
  });
});

test('an expected failure that was not run stays so', () => {
  expect(combineRuns(query({ xfail: 'known bug' }), runs('skip')).status).toBe('skip');
});
