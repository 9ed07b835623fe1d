import { describe, expect, test } from 'vitest';
import { parseSpec } from './parse-spec.ts';

const read = (text: string) => parseSpec(`agent: a\n${text}`, { file: 's.yaml' });
const queryOf = (text: string) => {
  const { suite, diagnostics } = read(text);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return suite!.queries[0]!;
};
const found = (text: string) =>
  read(text).diagnostics.map(({ code, line, column }) => `${code} ${line}:${column}`);

describe('a query inherits', () => {
  test.each([
    {
      what: 'maps inside maps, but not what it switches off there',
      defaults: 'metadata: {a: {x: 1, y: 2}, b: 1}',
      query: 'metadata: {a: {y: null, z: 3}}',
      key: 'metadata',
      value: { a: { x: 1, z: 3 }, b: 1 },
    },
    {
      what: 'a list whole or not at all',
      defaults: 'tags: [a, b]',
      query: 'tags: [c]',
      key: 'tags',
      value: ['c'],
    },
    {
      what: 'a layer key by key',
      defaults: 'cost: {max_llm_calls: 1, max_cost_usd: 2}',
      query: 'cost: {max_cost_usd: 3, max_total_tokens: 4}',
      key: 'cost',
      value: { max_llm_calls: 1, max_cost_usd: 3, max_total_tokens: 4 },
    },
    {
      what: 'a layer without the key it switches off',
      defaults: 'cost: {max_llm_calls: 1, max_cost_usd: 2}',
      query: 'cost: {max_llm_calls: null}',
      key: 'cost',
      value: { max_cost_usd: 2 },
    },
    {
      what: 'nothing of a key it switches off',
      defaults: 'tags: [a]',
      query: 'tags: null',
      key: 'tags',
      value: [],
    },
  ] as const)('$what', ({ defaults, query, key, value }) => {
    expect(queryOf(`defaults: {${defaults}}\nqueries:\n  - {query: q, ${query}}\n`)[key]).toEqual(
      value,
    );
  });

  test('what it does not change, however the one before it did', () => {
    const { suite } = read(
      'defaults: {cost: {max_llm_calls: 1}, metadata: {a: 1}}\nqueries:\n  - {query: x, cost: {max_llm_calls: 9}, metadata: {a: 9}}\n  - {query: y}\n  - {query: z, cost: {max_cost_usd: 1}}\n',
    );
    expect(suite?.queries.map(({ cost, metadata }) => [cost, metadata])).toEqual([
      [{ max_llm_calls: 9 }, { a: 9 }],
      [{ max_llm_calls: 1 }, { a: 1 }],
      [{ max_llm_calls: 1, max_cost_usd: 1 }, { a: 1 }],
    ]);
  });
});

describe('a bound in defaults that needs another key', () => {
  test('is for the queries that have it and for no other', () => {
    const { suite, diagnostics } = read(
      'defaults: {path: {min_tool_recall: 0.9, max_tool_calls: 3}}\nqueries:\n  - {query: x, path: {expected_tools: [a]}}\n  - {query: y}\n  - {query: z, path: {max_loops: 1}}\n',
    );
    expect(diagnostics).toEqual([]);
    expect(suite?.queries.map(({ path }) => path)).toEqual([
      { expected_tools: ['a'], max_tool_calls: 3, min_tool_recall: 0.9 },
      { max_tool_calls: 3 },
      { max_loops: 1, max_tool_calls: 3 },
    ]);
  });

  test.each([
    'min_tool_recall: 0.9',
    'min_tool_precision: 0.9',
    'min_tool_f1: 0.9',
    'sequence_metric: edit',
  ])('%s that no query has use for is an error, once and at its place', (bound) => {
    const queries = '  - {query: x, path: {max_loops: 1}}\n  - {query: y, path: {max_loops: 2}}\n';
    const text = `defaults:\n  path:\n    ${bound}\nqueries:\n${queries}`;
    expect(found(text)).toEqual([expect.stringMatching(/^SPEC_NEEDS_KEY 4:/)]);
  });

  test('written in the query itself it is an error there', () => {
    const text =
      'queries:\n  - {query: x, path: {expected_tools: [a]}}\n  - {query: y, path: {min_tool_recall: 0.9}}\n';
    expect(found(text)).toEqual([expect.stringMatching(/^SPEC_NEEDS_KEY 4:/)]);
  });
});

test('every key of a query arrives at its field', () => {
  const text = `queries:
  - query: q
    id: x
    description: d
    context: c
    expected_output: e
    metadata: {m: 1}
    tags: [t]
    runs: 3
    min_pass_rate: 0.5
    xfail: known
    correctness: {exact_match: e}
`;
  expect(queryOf(text)).toMatchObject({
    id: 'x',
    query: 'q',
    description: 'd',
    context: ['c'],
    expectedOutput: 'e',
    metadata: { m: 1 },
    tags: ['t'],
    runs: 3,
    minPassRate: 0.5,
    xfail: 'known',
    correctness: { exact_match: 'e' },
  });
});

test('a check is found at its own line, inherited or not, and so is each rule, rubric, metric and the policy', () => {
  const { location, locations } = queryOf(`defaults:
  cost:
    max_llm_calls: 1
queries:
  - query: q
    correctness:
      llm_judge:
        - {rule: one}
        - {rule: two}
    path:
      rules:
        - {type: require, tool: a}
    metrics:
      - {tool_success: 0.5}
      - faithfulness
    policy:
      tools: {deny: [rm]}
`);
  const lines = Object.fromEntries(
    Object.entries(locations ?? {}).map(([id, { line, column }]) => [id, `${line}:${column}`]),
  );
  expect(location).toMatchObject({ file: 's.yaml', line: 6, column: 5 });
  expect(lines).toEqual({
    'cost.max_llm_calls': '4:5',
    'correctness.llm_judge': '8:7',
    'correctness.llm_judge[0]': '9:11',
    'correctness.llm_judge[1]': '10:11',
    'path.rules': '12:7',
    'path.rules[0]': '13:11',
    'metric.tool_success': '15:10',
    'metric.faithfulness': '16:9',
    policy: '17:5',
  });
});

test.each([
  { what: 'nothing', query: '', warns: true },
  { what: 'a metric without a bound', query: ', metrics: [faithfulness]', warns: true },
  { what: 'a metric with a bound', query: ', metrics: [{tool_success: 0.5}]', warns: false },
  { what: 'an empty path, which asks for a baseline', query: ', path: {}', warns: false },
  { what: 'a policy', query: ', policy: {tools: {deny: [rm]}}', warns: false },
  { what: 'a check', query: ', cost: {max_llm_calls: 1}', warns: false },
  {
    what: 'an end that the agent must bring about',
    query:
      ', conversation: {user: {script: [x]}, max_turns: 2, end: {agent_tool: bye, user_done: false}}',
    warns: false,
  },
  { what: 'a reason to be left out', query: ', skip: later', warns: false },
])('a query with $what is reported as checking nothing: $warns', ({ query, warns }) => {
  expect(
    found(`queries:\n  - {query: q${query}}\n`).some((line) => line.startsWith('SPEC_NO_CHECKS')),
  ).toBe(warns);
});

test.each([
  { rate: '0', warns: true },
  { rate: '0.5', warns: false },
])(
  'min_pass_rate $rate is reported as making a query that cannot fail: $warns',
  ({ rate, warns }) => {
    const text = `queries:\n  - {query: q, runs: 2, min_pass_rate: ${rate}, cost: {max_llm_calls: 1}}\n`;
    expect(found(text)).toEqual(warns ? ['SPEC_CANNOT_FAIL 3:40'] : []);
  },
);

test('a mistake in the defaults is reported once, at its place, and not in each query', () => {
  const queries = 'queries:\n  - {query: x, cost: {max_cost_usd: 1}}\n  - {query: y}\n';
  expect(found(`defaults:\n  cost: {max_llm_calls: many}\n  tag: [a]\n${queries}`)).toEqual([
    'SPEC_VALUE 3:25',
    'SPEC_UNKNOWN_KEY 4:3',
  ]);
});
