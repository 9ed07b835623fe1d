import type { CheckResult, QueryResult } from '@agentci/results';
import { emptyLayer } from '@agentci/results';
import { expect, test } from 'vitest';
import { checkText, failureOf, skipReason, warningsOf } from './failure-text.ts';

const check = (given: Partial<CheckResult>): CheckResult => ({
  id: 'path.max_tool_calls',
  status: 'fail',
  message: 'tool calls: 11, limit 0',
  location: { file: 'a.yaml', line: 3, column: 7 },
  evidence: [],
  ...given,
});

const result = (given: Partial<QueryResult>, ...checks: CheckResult[]): QueryResult => ({
  id: 'q',
  query: 'Why?',
  tags: [],
  status: 'fail',
  answer: 'so',
  warnings: [],
  correctness: emptyLayer(),
  path: { ...emptyLayer(), checks },
  cost: emptyLayer(),
  metrics: {},
  ...given,
});

test.each([
  { when: 'the message has both', given: { value: 11, limit: 0 }, text: 'tool calls: 11, limit 0' },
  {
    when: 'the message lacks the number',
    given: { value: 12, limit: 0 },
    text: 'tool calls: 11, limit 0 (measured 12)',
  },
  {
    when: 'the message lacks both',
    given: { message: 'too many', value: 3, limit: 2 },
    text: 'too many (measured 3, limit 2)',
  },
  {
    when: 'they are not numbers',
    given: { message: 'other', value: ['a'], limit: ['b'] },
    text: 'other',
  },
])('a check gives its number and limit once when $when', ({ given, text }) => {
  expect(checkText(check(given))).toBe(`a.yaml:3:7 path.max_tool_calls: ${text}`);
});

test.each([
  { status: 'pass', strict: false, fails: false },
  { status: 'warn', strict: false, fails: false },
  { status: 'warn', strict: true, fails: true },
  { status: 'fail', strict: false, fails: true },
  { status: 'error', strict: false, fails: true },
  { status: 'skip', strict: true, fails: false },
] as const)(
  'a query with $status fails its test: $fails (strict: $strict)',
  ({ status, strict, fails }) => {
    expect(failureOf(result({ status }, check({ status })), { strict }) !== undefined).toBe(fails);
  },
);

test.each([
  { code: 'SCRIPT_UNUSED', strict: true, fails: true },
  { code: 'SCRIPT_UNUSED', strict: false, fails: false },
  { code: 'CALLS_MISSING', strict: true, fails: true },
  { code: 'USAGE_DRIFT', strict: true, fails: false },
])(
  'a query that passes with the warning $code fails its test: $fails (strict: $strict)',
  ({ code, strict, fails }) => {
    const passed = result(
      { status: 'pass', warnings: [{ code, message: 'odd' }] },
      check({ status: 'pass' }),
    );
    expect(failureOf(passed, { strict })?.message).toEqual(
      fails ? expect.stringContaining(`${code}: odd`) : undefined,
    );
  },
);

test('a failure leads into the spec and names every check that stops the build', () => {
  const failure = failureOf(
    result({}, check({}), check({ id: 'path.rules', message: 'no\u001b[2J', status: 'fail' })),
  );
  expect(failure?.message.split('\n')).toEqual([
    'q: fail',
    '  a.yaml:3:7 path.max_tool_calls: tool calls: 11, limit 0',
    expect.not.stringContaining('\u001b'),
  ]);
  expect(failure?.stack).toMatch(/ {4}at .*a\.yaml:3:7$/);
});

test('warnings and skips say why', () => {
  expect(warningsOf(result({ status: 'warn' }, check({ status: 'warn' })))).toEqual([
    'q: warn: a.yaml:3:7 path.max_tool_calls: tool calls: 11, limit 0',
  ]);
  expect(skipReason(result({ status: 'skip', xfail: { reason: 'later', status: 'fail' } }))).toBe(
    'expected failure: later',
  );
  expect(skipReason(result({ status: 'skip' }))).toBe('it has no checks');
});
