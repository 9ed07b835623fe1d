import { caseKey } from '@agentci/results';
import { parseSpec } from '@agentci/spec';
import { simpleTrace } from '@agentci/trace';
import { expect, test } from 'vitest';
import { mutateSuite } from './mutate-suite.ts';
import { OPERATORS } from './operators/index.gen.ts';
import { renderConsole } from './report/console.ts';
import { renderHtml } from './report/html.ts';
import { renderMarkdown } from './report/markdown.ts';

const GOOD = {
  id: 'a',
  query: 'Where?',
  answer: 'At 4 Mill Lane, behind the bakery.',
  tool_calls: [{ name: 'find', args: { street: 'Mill Lane' }, result: 'x' }],
  llm_calls: [{ model: 'gpt-5-mini', input_tokens: 12, output_tokens: 4, cost_usd: 0.001 }],
  latency_ms: 100,
};
const suiteOf = (checks: string, query = 'Where?') =>
  parseSpec(`version: 1\nagent: shop\nqueries:\n  - {id: a, query: "${query}", ${checks}}\n`)
    .suite!;
const mutate = (checks: string, rest: object = {}, good: object = GOOD) =>
  mutateSuite({
    suite: suiteOf(checks),
    recordings: new Map([['a', [simpleTrace(good)]]]),
    ...rest,
  });

const ALL_CHECKS =
  'correctness: {exact_match: "At 4 Mill Lane, behind the bakery."}, ' +
  'path: {expected_tools: [find], max_tool_calls: 1, max_tool_errors: 0, expected_tool_args: [{tool: find, args: {street: Mill Lane}}]}, ' +
  'cost: {max_cost_usd: 0.002, max_total_tokens: 32, max_latency_ms: 200, max_llm_calls: 1}';

test('a spec that looks at everything notices everything it is meant to', async () => {
  const result = await mutate(ALL_CHECKS);
  expect(result).toMatchObject({
    recordings: 1,
    survivors: [],
    score: { rate: 1 },
    summary: { exit_code: 0 },
  });
  expect(result.idle_checks).toEqual([]);
});

test('survivors come with the line to add, and checks that decide nothing are named', async () => {
  const result = await mutate(
    'correctness: {expected_in_answer: [bakery], not_in_answer: [closed]}',
  );
  expect(result.survivors.map(({ what, advice }) => [what, advice?.yaml])).toContainEqual([
    'dropping `find`',
    'expected_tools: [find]',
  ]);
  expect(result.idle_checks).toMatchObject([{ query: 'a', check: 'correctness.not_in_answer' }]);
  expect(result.layers.path).toMatchObject({ noticed: 0, rate: 0 });
  for (const render of [renderConsole, renderMarkdown, renderHtml])
    expect(render(result).replaceAll('&#95;', '_')).toContain('expected_tools');
});

test.each([
  ['fails as it is', 'correctness: {expected_in_answer: [station]}', 'it fails as it is'],
  [
    'is expected to fail',
    'xfail: known, correctness: {expected_in_answer: [station]}',
    'it is expected to fail',
  ],
  ['has no verdict', 'correctness: {json_schema: {type: object}}', 'it fails as it is'],
])('a recording that %s is left out, and nothing to break is exit 2', async (_, checks, why) => {
  const result = await mutate(checks);
  expect(result.left_out).toMatchObject([{ query: 'a', why: expect.stringContaining(why) }]);
  expect(result.summary.exit_code).toBe(2);
});

test('what only a rubric could notice is not held against the spec', async () => {
  const result = await mutate(
    'correctness: {expected_in_answer: [bakery], llm_judge: [{rule: "It names the street.", threshold: 0.7}]}',
  );
  expect(result.for_the_judge.map(({ operator }) => operator)).toContain('change-number');
  expect(result.survivors.filter(({ layer }) => layer === 'correctness')).toEqual([]);
});

test('a budget is spread over the kinds of change, and omitted changes are reported', async () => {
  const result = await mutate('correctness: {expected_in_answer: [bakery]}', { budget: 5 });
  expect(result.score.mutants).toBe(5);
  expect(result.operators.filter(({ mutants }) => mutants === 1)).toHaveLength(5);
  expect(result.not_tried).toBeGreaterThan(0);
});

test.each([
  [0.99, 1],
  [0.01, 0],
])('a score below --min-score %s is exit %s', async (minScore, code) => {
  const result = await mutate('correctness: {expected_in_answer: [bakery]}', { minScore });
  expect(result.summary.exit_code).toBe(code);
});

test('hostile text is inert in every report', async () => {
  const result = await mutate(
    'correctness: {expected_in_answer: [bakery]}',
    {},
    {
      ...GOOD,
      tool_calls: [{ name: '<script>\u001b[31m|x', args: { '<img>': '</code>' } }],
    },
  );
  expect(renderConsole(result)).not.toContain('\u001b');
  expect(renderHtml(result)).not.toMatch(/<script>|<img>/);
  expect(renderMarkdown(result)).not.toMatch(/<script>|[^\\]\|x/);
});

test.each([
  ['a limit that is too wide', 'path: {max_tool_calls: 5}', ['repeating `find`'], 1],
  ['a limit that fits', 'path: {max_tool_calls: 1}', [], 1],
  ['a tool that is asked for', 'path: {expected_tools: [find]}', [], 2],
  [
    'either of two tools',
    'path: {expected_tools: [find, other], min_tool_recall: 0.5}',
    ['calling `other` instead of `find`'],
    2,
  ],
  [
    'an argument that is asked for',
    'path: {expected_tool_args: [{tool: find, args: {street: Mill Lane}}]}',
    [],
    3,
  ],
  [
    'an argument of another tool',
    'path: {expected_tool_args: [{tool: find, args: {town: {ignore: true}}}]}',
    [],
    0,
  ],
  [
    'the number that is asked for',
    'correctness: {expected_in_answer: [4 Mill]}',
    ['an answer that stops halfway'],
    4,
  ],
  ['words without the number', 'correctness: {expected_in_answer: [behind the bakery]}', [], 3],
  ['a limit that the good run exceeds already', 'path: {max_tool_calls: 0}', [], 0],
  ['another check than is advised', 'correctness: {not_in_answer: [closed]}', [], 0],
])('what a check is meant to catch: %s', async (_, checks, missed, mutants) => {
  const { meant, survivors } = await mutate(checks);
  expect(survivors.filter((survivor) => survivor.meant).map(({ what }) => what)).toEqual(missed);
  expect(meant).toEqual({ mutants, noticed: mutants - missed.length });
});

test('every report marks a survivor that a check should have noticed', async () => {
  const result = await mutate('path: {max_tool_calls: 5}');
  for (const render of [renderConsole, renderMarkdown, renderHtml]) {
    const text = render(result).replaceAll('&#95;', '_').replaceAll('\\_', '_');
    expect(text).toContain('though the query has max_tool_calls');
    expect(text).toContain(
      '0 of 1 changes that a check of the query is meant to catch were noticed',
    );
  }
});

const turnOf = (turn: number, answer: string) => ({
  turn,
  message: `message ${turn}`,
  final: { text: answer },
});
const CONVERSATION = {
  ...simpleTrace({ id: 'a', query: 'message 1', answer: 'The total is 42 euros.', tool_calls: [] }),
  conversation: {
    turns: [turnOf(1, 'The table is for 2 guests.'), turnOf(2, 'The total is 42 euros.')],
  },
};
const converse = (turns: string) => {
  const { suite } = parseSpec(
    `version: 1\nagent: shop\nqueries:\n  - id: a\n    conversation: {start: message 1, user: {script: [{say: message 2}]}}\n    turns: ${turns}\n`,
  );
  return mutateSuite({ suite: suite!, recordings: new Map([['a', [CONVERSATION]]]) });
};

test.each([
  [
    'the first',
    '[{turn: 1, correctness: {exact_match: The table is for 2 guests.}}]',
    'turn 1',
    'turn 2',
  ],
  [
    'the last',
    '[{turn: 2, correctness: {exact_match: The total is 42 euros.}}]',
    'turn 2',
    'turn 1',
  ],
])(
  'a check on %s turn notices another answer in that turn, and in no other',
  async (_, turns, own, other) => {
    const { survivors, layers, meant } = await converse(turns);
    const missed = survivors.filter(({ layer }) => layer === 'correctness').map(({ what }) => what);
    expect(layers.correctness.noticed).toBeGreaterThan(3);
    expect(missed.filter((what) => what.includes(own))).toEqual([]);
    expect(missed.filter((what) => what.includes(other)).length).toBeGreaterThan(3);
    expect(meant.noticed).toBe(meant.mutants);
  },
);

test('the line that is advised for a turn goes under that turn, and notices', async () => {
  const result = await converse('[{turn: 2, path: {max_tool_calls: 0}}]');
  const other = result.survivors.find(
    ({ what, advice }) => what.endsWith('in turn 1') && advice?.check === 'expected_in_answer',
  );
  expect(other?.advice).toMatchObject({
    turn: 1,
    layer: 'correctness',
    check: 'expected_in_answer',
  });
  expect(renderConsole(result)).toContain('turns: [{turn: 1, correctness: {expected_in_answer: [');
  const caught = await converse(`[{turn: 1, correctness: {${other!.advice!.yaml}}}]`);
  expect(caught.survivors.map(({ what }) => what)).not.toContain(other!.what);
});

test('a call that is added to a conversation is in a turn, so that checks on turns can tell', async () => {
  const { suite } = parseSpec(
    'version: 1\nagent: shop\nqueries:\n  - id: a\n    conversation: {start: message 1, user: {script: [{say: message 2}]}}\n' +
      '    path: {forbidden_tools: [wipe]}\n    turns: [{turn: 1, path: {forbidden_tools: [wipe]}}]\n',
  );
  const result = await mutateSuite({ suite: suite!, recordings: new Map([['a', [CONVERSATION]]]) });
  expect(result.idle_checks.map(({ check }) => check)).toEqual(['path.turn[1].forbidden_tools']);
});

test.each([
  ['a rule', 'path: {rules: [{type: require, tool: find}, {type: max_calls, tool: find, max: 1}]}'],
  ['a list', 'path: {expected_tool_args: [{tool: find, args: {street: Mill Lane}}]}'],
  [
    'an argument of a policy',
    'policy: {tools: {find: {arguments: {street: {type: string, enum: [Mill Lane]}}}}}',
  ],
  ['a rule of a policy', 'policy: {rules: [{type: max_calls, tool: find, max: 1}]}'],
])(
  'a check that is violated at the line of an item has decided something: %s',
  async (_, checks) => {
    const { idle_checks, untried_checks, layers } = await mutate(checks);
    expect(layers.path.noticed).toBeGreaterThan(0);
    expect([...idle_checks, ...untried_checks]).toEqual([]);
  },
);

test('a warning that the recording has already is not a new one at another item', async () => {
  const written = '[{tool: find, args: {town: Ely}}, {tool: find, args: {street: Mill Lane}}]';
  const { layers, already_violated } = await mutate(`path: {expected_tool_args: ${written}}`);
  expect(already_violated).toMatchObject([{ check: 'path.expected_tool_args' }]);
  expect(layers.path.noticed).toBe(0);
});

test.each([
  ['`deny` of a policy', 'policy: {tools: {deny: [drop_table]}}', 'drop_table'],
  ['a pattern of `deny`', 'policy: {tools: {deny: ["drop_*"]}}', 'drop_all'],
  ['`blocklist` of a policy', 'policy: {blocklist: [drop_table]}', 'drop_table'],
  ['a rule of a policy', 'policy: {rules: [{type: max_calls, tool: wire, max: 0}]}', 'wire'],
  [
    'an alias',
    'policy: {aliases: {Bad: [wipe, "erase_*"]}, rules: [{type: max_calls, tool: Bad, max: 0}]}',
    'wipe',
  ],
  ['a rule of the query', 'path: {rules: [{type: blocklist, tools: [nuke]}]}', 'nuke'],
  ['`forbidden_calls`', 'path: {forbidden_calls: [{tool: wipe}]}', 'wipe'],
  [
    '`forbidden_calls` with arguments',
    'path: {forbidden_calls: [{tool: wipe, args: {all: true}}]}',
    'wipe',
  ],
  ['a matcher', 'path: {forbidden_calls: [{tool: wipe, args: {disk: {one_of: [a, b]}}}]}', 'wipe'],
  ['`not`', 'path: {not: {expected_tools: [zap]}}', 'zap'],
  ['a block in a block', 'path: {all: [{any: [{not: {expected_tools: [zap]}}]}]}', 'zap'],
  [
    'the tenth list',
    `path: {forbidden_tools: [${'abcdefghi'.split('').map((c) => `t_${c}`)}], not: {expected_tools: [zap]}}`,
    'zap',
  ],
])('a call that the spec forbids is tried with the name it uses: %s', async (_, checks, name) => {
  const operators = OPERATORS.filter((operator) => operator.name === 'extra-call');
  const plain = await mutate('path: {max_tool_calls: 9}', { operators });
  const { idle_checks, untried_checks, score, survivors } = await mutate(checks, { operators });
  expect(plain.score.mutants).toBe(0);
  expect(score.noticed).toBeGreaterThan(0);
  expect(survivors.filter(({ what }) => what.includes(name))).toEqual([]);
  expect([...idle_checks, ...untried_checks]).toEqual([]);
});

test('with a matrix each recording is judged in its cell', async () => {
  const { suite } = parseSpec(
    'version: 1\nagent: shop\nmatrix: {model: [x, y]}\nqueries:\n  - {id: a, query: "go {{model}}", correctness: {expected_in_answer: ["{{model}}"]}}\n',
  );
  const traceIn = (model: string) =>
    simpleTrace({ id: 'a', query: `go ${model}`, answer: `went to ${model} 7` });
  const recordings = (...models: string[]) =>
    new Map(models.map((model) => [caseKey({ id: 'a', cell: { model } }), [traceIn(model)]]));
  const both = await mutateSuite({ suite: suite!, recordings: recordings('x', 'y') });
  expect(both).toMatchObject({ recordings: 2, left_out: [], uncovered: [] });
  expect(new Set(both.survivors.map(({ query }) => query))).toEqual(
    new Set(['a (model=x)', 'a (model=y)']),
  );
  const one = await mutateSuite({ suite: suite!, recordings: recordings('x'), minScore: 0.1 });
  expect(one).toMatchObject({
    recordings: 1,
    uncovered: ['a (model=y)'],
    summary: { exit_code: 2 },
  });
});

test.each([
  ['a sample whose interval reaches below the bound', { budget: 3, minScore: 0.9 }, 2],
  ['a sample whose interval is above the bound', { budget: 5, minScore: 0.3 }, 0],
  [
    'a sample that misses the bound',
    { budget: 12, minScore: 0.9, good: 'correctness: {expected_in_answer: [bakery]}' },
    1,
  ],
  ['a sample without a bound', { budget: 3 }, 0],
])(
  'a budget that leaves changes untried: %s',
  async (_, { good = ALL_CHECKS, ...options }: Record<string, unknown>, code) => {
    const result = await mutate(good as string, options);
    expect(result.not_tried).toBeGreaterThan(0);
    expect(result.summary.exit_code).toBe(code);
    expect(renderConsole(result)).not.toContain('every change was noticed');
    if (code === 2)
      expect(renderConsole(result)).toMatch(/could not tell: \d+ changes were left untried/);
  },
);

const KEY = 'sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIj';
test.each([
  ['a key in the answer', { answer: `paid with key ${KEY} 55` }, [KEY.slice(0, 12), '0123456789']],
  [
    'an argument',
    { tool_calls: [{ name: 'pay', args: { password: 'hunter2 hunter2', n: 4 } }] },
    ['hunter2'],
  ],
  [
    'a number',
    { tool_calls: [{ name: 'pay', args: { secret: 48151, password: 62342 } }] },
    ['48151', '62342'],
  ],
  [
    'a field of a field',
    { tool_calls: [{ name: 'pay', args: { auth: { api_key: 'correct-horse' } } }] },
    ['horse'],
  ],
  [
    'a name before it',
    { answer: 'the password: open-Sesame-7431-now, ok' },
    ['Sesame', '7431', '8431'],
  ],
  ['an address', { answer: 'see postgres://bob:swordfish9@db/x' }, ['swordfish']],
])('a secret of a recording is in no report and no advice: %s', async (_, said, secrets) => {
  const result = await mutate('path: {max_tool_calls: 9}', {}, { ...GOOD, ...said });
  expect(result.survivors.length).toBeGreaterThan(3);
  for (const text of [
    JSON.stringify(result),
    renderConsole(result),
    renderMarkdown(result),
    renderHtml(result),
  ])
    for (const secret of secrets) expect(text).not.toContain(secret);
});

test('a recording that is left out is named without its secrets', async () => {
  const good = { ...GOOD, tool_calls: [{ name: 'pay', args: { password: 'hunter2hunter2' } }] };
  const { left_out } = await mutate(
    'policy: {tools: {pay: {arguments: {password: {type: string, enum: [abc]}}}}}',
    {},
    good,
  );
  expect(left_out).toHaveLength(1);
  expect(JSON.stringify(left_out)).not.toContain('hunter2');
});
