import { groupCount } from '@agentci/reporters';
import { checkOf, runOf } from '@agentci/testing/run-of';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commonText } from './common-text.ts';
import { compareGroups, groupFailures } from './failure-groups.ts';
import { errorClass } from './failure-signature.ts';

const failing = (id: string, message: string, check = 'correctness.expected_in_answer') => ({
  id,
  status: 'fail' as const,
  correctness: [checkOf(check, 'fail', { message })],
});
const broken = (id: string, message: string, kind = 'agent') => ({
  id,
  status: 'error' as const,
  error: { kind, message },
});
const groups = (...results: object[]) =>
  groupFailures(runOf(results as never)).map(
    ({ check, queries }) => `${check}: ${queries.join(' ')}`,
  );

describe('in a matrix', () => {
  const inCell = (id: string, model: string) => ({
    ...failing(id, 'found 0 of 1 expected term'),
    cell: { model },
  });
  test.each([
    [
      'one cell',
      [
        ['a', 'x'],
        ['b', 'x'],
      ],
      '2 queries in model=x',
    ],
    [
      'every cell',
      [
        ['a', 'x'],
        ['b', 'x'],
        ['a', 'y'],
        ['b', 'y'],
      ],
      '2 queries in each of 2 cells',
    ],
    [
      'some cells',
      [
        ['a', 'x'],
        ['b', 'x'],
        ['a', 'y'],
      ],
      '2 queries in 2 cells, 3 failures',
    ],
    [
      'one query',
      [
        ['a', 'x'],
        ['a', 'y'],
        ['a', 'z'],
      ],
      '1 query in each of 3 cells',
    ],
  ] as const)('queries and cells are both counted: %s', (_, cases, words) => {
    const [group] = groupFailures(runOf(cases.map(([id, model]) => inCell(id, model)) as never));
    expect(group).toMatchObject({
      cases: cases.length,
      queries: [...new Set(cases.map(([id]) => id))],
    });
    expect(groupCount(group!)).toBe(words);
  });

  test('an example names its cell, and a run without a matrix has no count of cells', () => {
    const [group] = groupFailures(
      runOf([inCell('a', 'x'), inCell('a', 'y'), inCell('b', 'y')] as never),
    );
    expect(group!.examples.map(({ query }) => query)).toEqual(['a (model=x)', 'b (model=y)']);
    const [plain] = groupFailures(runOf([failing('a', 'm'), failing('b', 'm')]));
    expect(plain!.cells).toBeUndefined();
    expect(groupCount(plain!)).toBe('2 queries');
  });
});

describe('one cause in several phrasings is one group', () => {
  test.each([
    [
      'a refused connection',
      [
        'connect ECONNREFUSED 127.0.0.1:8080',
        'fetch failed: Connection refused',
        'http://localhost:1/ask: connection refused',
      ],
    ],
    [
      'a time limit',
      ['the agent timed out after 30000 ms', 'TimeoutError: deadline exceeded', 'request timeout'],
    ],
    [
      'a rate limit',
      ['HTTP 429', 'openai.RateLimitError: Error code: 429', 'Too Many Requests, retry in 20s'],
    ],
    [
      'a key that is missing in a map',
      ["exit code 1: KeyError: 'order'", "Traceback: KeyError: 'id'", 'KeyError: "customer"'],
    ],
  ])('%s', (_, messages) => {
    expect(groups(...messages.map((message, i) => broken(`q${i}`, message)))).toEqual([
      'error.agent: q0 q1 q2',
    ]);
  });

  test.each([
    [
      'tools in another order',
      'forbidden tools called: 2 calls of del, wipe, limit 0',
      'forbidden tools called: 3 calls of wipe, del, limit 0',
    ],
    [
      'words of a JSON parser',
      "the answer is not JSON: Expected ',' or '}' after property value in JSON at position 7",
      'the answer is not JSON: Unexpected token \'o\', "nope" is not valid JSON',
    ],
    [
      'another region',
      'order 4711 not found in region eu-west-1',
      'order 12 not found in region us-east-2',
    ],
    [
      'another pattern',
      '/aa/ is not found in the 2 characters of the answer',
      '/b+c/ is not found in the 9 characters of the answer',
    ],
  ])('%s', (_, one, other) => {
    expect(groups(failing('a', one), failing('b', other))).toHaveLength(1);
  });

  test('other words and numbers in the same finding', () => {
    expect(
      groups(
        failing('a', 'found 0 of 3 expected terms; missing: "x", "y" and 1 more'),
        failing('b', 'found 1 of 2 expected terms; missing: "npm install"'),
        failing('c', 'found 0 of 1 expected term; missing: "z"'),
      ),
    ).toEqual(['correctness.expected_in_answer: a b c']);
  });
});

describe('several causes behind one preamble are several groups', () => {
  test('errors of a program', () => {
    const before = 'the agent exited with code 1: Traceback (most recent call last): ';
    expect(
      groups(
        broken('a', `${before}KeyError: 'x'`),
        broken('b', `${before}ValueError: bad date`),
        broken('c', `${before}ValueError: no rows`),
      ),
    ).toHaveLength(3);
  });

  test.each([
    ['a number that is a status elsewhere', 'HTTP 429', 'AssertionError: expected 429 rows, got 3'],
    ['a key with the words of a cause', 'HTTP 429', "KeyError: 'rate_limit'"],
    ['a file with the number', 'HTTP 429', "FileNotFoundError: No such file: 'reports/429.csv'"],
    [
      'a wrong time limit',
      'the agent timed out after 3 ms',
      'ValueError: timeout must be a positive number',
    ],
    [
      'a file that may not be read',
      'HTTP 401 Unauthorized',
      "PermissionError: [Errno 13] Permission denied: '/x'",
    ],
    [
      'two tools',
      'Error: tool "search" failed: bad input',
      'Error: tool "refund" failed: bad input',
    ],
    [
      'two types of API errors',
      '{"error":{"type":"overloaded_error"}}',
      '{"error":{"type":"invalid_request_error"}}',
    ],
    ['a count of rows', 'HTTP 503 Service Unavailable', 'expected 503 items'],
  ])('%s', (_, one, other) => {
    expect(groups(broken('a', one), broken('b', other))).toHaveLength(2);
  });

  test('another field of an answer in JSON', () => {
    const lacks = (field: string) =>
      `the answer does not conform to the schema, 1 error: the answer: Instance does not have required property "${field}".`;
    const check = 'correctness.json_schema';
    expect(
      groups(
        failing('a', lacks('total'), check),
        failing('b', lacks('total'), check),
        failing('c', lacks('date'), check),
      ),
    ).toEqual([`${check}: a b`, `${check}: c`]);
  });

  test('the same check at another tool', () => {
    expect(
      groups(
        failing(
          'a',
          'forbidden tools called: 1 call of delete_order, limit 0',
          'path.forbidden_tools',
        ),
        failing(
          'b',
          'forbidden tools called: 2 calls of delete_order, limit 0',
          'path.forbidden_tools',
        ),
        failing('c', 'forbidden tools called: 1 call of refund, limit 0', 'path.forbidden_tools'),
      ),
    ).toEqual(['path.forbidden_tools: a b', 'path.forbidden_tools: c']);
  });
});

test('the order of the results makes no difference, and a run twice has the same signatures', () => {
  const results = [
    ...Array.from({ length: 4 }, (_, i) =>
      failing(`a${i}`, `found ${i} of 9 expected terms; missing: "t${i}"`),
    ),
    ...Array.from({ length: 3 }, (_, i) => broken(`b${i}`, `HTTP 50${i}`)),
    broken('c', 'SyntaxError: bad token'),
  ];
  const signatures = (list: readonly object[]) =>
    groupFailures(runOf(list as never)).map(({ signature }) => signature);
  const expected = signatures(results);
  fc.assert(
    fc.property(fc.shuffledSubarray(results, { minLength: results.length }), (shuffled) => {
      expect(signatures(shuffled)).toEqual(expected);
    }),
  );
});

test('passing queries are in no group, and groups are matched by signature as new, known or gone', () => {
  expect(groups({ id: 'a', status: 'pass' }, { id: 'b', status: 'warn' })).toEqual([]);
  const of = (...messages: string[]) =>
    groupFailures(runOf(messages.map((m, i) => broken(`q${i}`, m)) as never));
  const [before, after] = [of('HTTP 429', 'KeyError: 1'), of('Too Many Requests', 'TypeError: x')];
  const all = compareGroups(before, after, new Set(['q0', 'q1']));
  expect([...all.since.values()].sort()).toEqual(['known', 'new']);
  expect(all).toMatchObject({ gone: [{ queries: ['q1'] }], notRun: [] });
  expect(compareGroups(before, after, new Set(['q0']))).toMatchObject({
    gone: [],
    notRun: [{ queries: ['q1'] }],
  });
});

test('hostile messages take no time', () => {
  for (const message of [
    '"'.repeat(50_000),
    "'a".repeat(50_000),
    'Error '.repeat(20_000),
    '/a'.repeat(50_000),
  ]) {
    const started = process.cpuUsage();
    errorClass(message);
    expect(process.cpuUsage(started).user).toBeLessThan(500_000);
  }
});

test('the title of a group is true of every query in it, and the examples are each query\u2019s own', () => {
  const run = runOf(
    ['yes', 'no', 'may be'].map((word, i) => ({
      id: `q${i}`,
      status: 'fail' as const,
      correctness: [
        checkOf('correctness.expected_in_answer', 'fail', {
          message: `found ${i} of ${i + 1} expected terms; missing: ${JSON.stringify(word)}`,
        }),
      ],
    })),
  );
  const [group, ...others] = groupFailures(run);
  expect(others).toEqual([]);
  expect(group!.title).toBe('found … of … expected terms; missing: …');
  expect(group!.examples.map(({ query, message }) => `${query} ${message}`)).toEqual([
    'q0 found 0 of 1 expected terms; missing: "yes"',
    'q1 found 1 of 2 expected terms; missing: "no"',
    'q2 found 2 of 3 expected terms; missing: "may be"',
  ]);
});

test.each([
  ['the same', 'the same', 'the same'],
  ['missing: "a"', 'missing: "b"', 'missing: …'],
  ['cost $0.01 of $0.02', 'cost $0.03 of $0.02', 'cost $… of $0.02'],
  ['a, b and 3 more', 'c and 5 more', '… and … more'],
  ['', 'x', '…'],
])('%j and %j have %j in common', (a, b, common) => {
  expect(commonText(a, b)).toBe(common);
});
