import { exitCode, summarize } from '@agentci/results';
import { checkOf, runOf, type ShortResult } from '@agentci/testing/run-of';
import { expect, test } from 'vitest';

const passing: ShortResult = {
  id: 'p',
  status: 'pass',
  correctness: [checkOf('correctness.exact_match', 'pass')],
};
const warned: ShortResult = { id: 'w', status: 'warn', path: [checkOf('path.max_loops', 'warn')] };
const failed: ShortResult = {
  id: 'f',
  status: 'fail',
  correctness: [checkOf('correctness.exact_match', 'fail')],
};
const errored: ShortResult = {
  id: 'e',
  status: 'error',
  error: { kind: 'agent', message: 'boom' },
};
const unmeasured: ShortResult = {
  id: 'u',
  status: 'pass',
  correctness: [checkOf('correctness.exact_match', 'pass')],
  cost: [checkOf('cost.max_cost_usd', 'skip', { skip_reason: 'not_measured' })],
};
const notExercised: ShortResult = {
  id: 'n',
  status: 'skip',
  path: [checkOf('path.rules', 'skip', { skip_reason: 'not_exercised' })],
};
const noBaseline: ShortResult = {
  id: 'b',
  status: 'skip',
  path: [checkOf('path.min_sequence_similarity', 'skip', { skip_reason: 'no_baseline' })],
};
const unchecked: ShortResult = { id: 'x', status: 'skip' };
const xfailed: ShortResult = {
  id: 'xf',
  status: 'skip',
  xfail: { reason: 'known', status: 'fail' },
  correctness: [checkOf('correctness.exact_match', 'fail')],
};

test.each([
  { when: 'everything passed', results: [passing], normal: 0, strict: 0 },
  { when: 'something warned', results: [passing, warned], normal: 0, strict: 1 },
  { when: 'a check failed', results: [passing, failed], normal: 1, strict: 1 },
  { when: 'a query could not be judged', results: [passing, errored], normal: 2, strict: 2 },
  { when: 'a failure and an error', results: [failed, errored], normal: 1, strict: 1 },
  { when: 'a check could not be measured', results: [unmeasured], normal: 0, strict: 2 },
  { when: 'the results are empty', results: [], normal: 2, strict: 2 },
  { when: 'no query has a check', results: [unchecked], normal: 2, strict: 2 },
  { when: 'every check lacked a baseline', results: [noBaseline], normal: 2, strict: 2 },
  { when: 'no rule came up', results: [notExercised], normal: 0, strict: 0 },
  { when: 'the only failure was expected', results: [xfailed], normal: 0, strict: 0 },
])('exits $normal, and $strict when strict, when $when', ({ results, normal, strict }) => {
  expect(exitCode(runOf(results))).toBe(normal);
  expect(exitCode(runOf(results), { strict: true })).toBe(strict);
});

test.each([
  { code: 'SCRIPT_UNUSED', why: 'a line of the script was not needed', strict: 1 },
  { code: 'END_UNSEEN', why: 'calls were not captured', strict: 2 },
  { code: 'CASSETTE_UNUSED', why: 'recorded calls were not made', strict: 2 },
  { code: 'FROM_A_LATER_VERSION', why: 'what it means is not known', strict: 2 },
  { code: 'USAGE_DRIFT', why: 'a number does not add up', strict: 0 },
])(
  'with the warning $code ($why) a passing run exits 0, and $strict when strict',
  ({ code, strict }) => {
    const run = runOf([{ ...passing, warnings: [{ code, message: 'odd' }] }]);
    expect([exitCode(run), exitCode(run, { strict: true })]).toEqual([0, strict]);
  },
);

test('a record nobody could read makes the whole run unsure', () => {
  expect(exitCode(runOf([passing], { checks: [checkOf('traces.readable', 'error')] }))).toBe(2);
});

test('an interrupted run always exits 130', () => {
  expect(exitCode({ ...runOf([failed]), interrupted: true })).toBe(130);
});

test('counts add up: passed includes warnings, and every query is counted once', () => {
  const summary = summarize(runOf([passing, warned, failed, errored, unchecked, xfailed]));
  expect(summary).toMatchObject({
    total: 6,
    passed: 2,
    warnings: 1,
    failed: 1,
    errors: 1,
    skipped: 2,
    xfailed: 1,
  });
  expect(summary.passed + summary.failed + summary.errors + summary.skipped).toBe(summary.total);
});

test.each([
  { what: 'failed', check: checkOf('metric.privacy_budget', 'fail'), normal: 1, strict: 1 },
  { what: 'warned', check: checkOf('metric.privacy_budget', 'warn'), normal: 0, strict: 1 },
  { what: 'passed', check: checkOf('metric.privacy_budget', 'pass'), normal: 0, strict: 0 },
  {
    what: 'could not be measured',
    check: checkOf('metric.privacy_budget', 'skip', { skip_reason: 'not_measured' }),
    normal: 2,
    strict: 2,
  },
])(
  'a check of the whole run alone that $what exits $normal, and $strict when strict',
  ({ check, normal, strict }) => {
    const run = runOf([unchecked], { checks: [check] });
    expect([exitCode(run), exitCode(run, { strict: true })]).toEqual([normal, strict]);
  },
);

test('with strict a warning and an error exit 1, like a failure', () => {
  expect(exitCode(runOf([warned, errored]), { strict: true })).toBe(1);
});

test('an expected failure that passes is a failure, not one of those expected', () => {
  const passes: ShortResult = {
    id: 'xp',
    status: 'fail',
    xfail: { reason: 'known', status: 'pass' },
  };
  expect(summarize(runOf([passes, xfailed]))).toMatchObject({ failed: 1, xfailed: 1 });
});
