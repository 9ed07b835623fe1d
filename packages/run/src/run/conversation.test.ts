import type { QueryResult } from '@agentci/results';
import { parseSpec } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { evaluateQuery } from './evaluate-query.ts';
import type { AgentFunction } from './run-options.ts';
import { runSuite } from './run-suite.ts';

const REFUND = `
agent: shop
queries:
  - id: refund
    conversation:
      start: I want to return something.
      user:
        script:
          - Order 42.
          - {when: '(?i)which item', say: The lamp.}
          - {when: '(?i)confirm', say: "Yes."}
`;

interface Seen {
  result: QueryResult;
  trace: Trace | undefined;
}

async function run(spec: string, agent: AgentFunction): Promise<Seen> {
  const { suite, diagnostics } = parseSpec(spec, { file: 'spec.yaml' });
  if (suite === undefined) throw new Error(JSON.stringify(diagnostics));
  let trace: Trace | undefined;
  const { results } = await runSuite({
    suite,
    runner: agent,
    judge: 'off',
    retries: 0,
    env: process.env,
    timeoutMs: 2000,
    sink: {
      record: (_, seen) => {
        trace = seen;
      },
    },
  });
  return { result: results[0]!, trace };
}

/** Asks for missing details, then refunds. */
const shop: AgentFunction = (message) => {
  const call = (name: string, args: object = {}) => ({ name, args, result: 'ok' });
  if (message.startsWith('I want')) return { answer: 'What is your order number?', tool_calls: [] };
  if (message.startsWith('Order'))
    return { answer: 'Which item?', tool_calls: [call('lookup_order', { id: '42' })] };
  if (message.startsWith('The lamp')) return { answer: 'Please confirm.', tool_calls: [] };
  return { answer: 'Your lamp is refunded.', tool_calls: [call('refund', { item: 'lamp' })] };
};

const said = ({ result }: Seen): (string | null)[] =>
  result.conversation!.turns.flatMap(({ user, answer }) => [user, answer]);
const checksOf = ({ result }: Seen) =>
  [...result.correctness.checks, ...result.path.checks, ...result.cost.checks].map(
    ({ id, status }) => `${id} ${status}`,
  );

describe('a scripted conversation', () => {
  test('tries what depends on the answer first, and says the rest in order', async () => {
    const seen = await run(`${REFUND}    correctness: {expected_in_answer: [refunded]}\n`, shop);
    expect(said(seen)).toEqual([
      'I want to return something.',
      'What is your order number?',
      'Order 42.',
      'Which item?',
      'The lamp.',
      'Please confirm.',
      'Yes.',
      'Your lamp is refunded.',
    ]);
    expect(seen.result).toMatchObject({ status: 'pass', conversation: { ending: 'user_done' } });
    expect(seen.trace?.steps.map((step) => [step.kind, step.userTurn])).toEqual([
      ['tool', 2],
      ['tool', 4],
    ]);
  });

  test('checks on a turn see that turn alone, and those of the query the whole', async () => {
    const seen = await run(
      `${REFUND}    turns:
      - {turn: 1, path: {forbidden_tools: [refund]}}
      - {turn: 2, path: {expected_tools: [lookup_order]}, correctness: {expected_in_answer: [which item]}}
      - {turn: 3, path: {max_tool_calls: 0}}
      - {turn: 4, path: {forbidden_tools: [refund]}}
    path: {max_tool_calls: 2}
`,
      shop,
    );
    expect(checksOf(seen)).toEqual([
      'correctness.turn[2].expected_in_answer pass',
      'path.max_tool_calls pass',
      'path.turn[1].forbidden_tools pass',
      'path.turn[2].expected_tools pass',
      'path.turn[3].max_tool_calls pass',
      'path.turn[4].forbidden_tools fail',
    ]);
    expect(seen.result.status).toBe('fail');
    expect(seen.result.conversation).toMatchObject({
      blame: 'agent',
      turns: [
        { status: 'pass' },
        { status: 'pass', tools: ['lookup_order'] },
        { status: 'pass' },
        { status: 'fail' },
      ],
    });
    expect(seen.result.path.checks.at(-1)).toMatchObject({ location: { line: 16, column: 26 } });
  });

  test('a check on a turn that never came is an error', async () => {
    const seen = await run(
      `${REFUND}    turns: [{turn: 4, correctness: {not_in_answer: [sorry]}, path: {max_tool_calls: 3}}]\n`,
      () => ({ answer: 'No.', tool_calls: [] }),
    );
    expect(seen.result.status).toBe('error');
    expect(seen.result.correctness.checks[0]!.message).toMatch(
      /^turn_missing: the conversation ended after turn 2 \(user_done\)/,
    );
    expect(checksOf(seen)).toEqual([
      'correctness.turn[4].not_in_answer error',
      'path.turn[4].max_tool_calls error',
    ]);
  });

  test.each([
    {
      what: 'never fired',
      entry: '{when: impossible, say: x}',
      status: 'pass',
      warns: true,
      error: undefined,
    },
    {
      what: 'is required and never fired',
      entry: '{when: impossible, say: x, required: true}',
      status: 'error',
      warns: false,
      error: 'script',
    },
    {
      what: 'fired',
      entry: '{when: Which, say: The lamp., required: true}',
      status: 'pass',
      warns: false,
      error: undefined,
    },
  ])('a line that $what gives $status', async ({ entry, status, warns, error }) => {
    const spec = `
agent: shop
queries:
  - id: q
    conversation: {start: I want it, user: {script: [Order 1, ${entry}]}}
    path: {max_tool_calls: 5}
`;
    const seen = await run(spec, shop);
    expect(seen.result.status).toBe(status);
    expect(seen.result.error?.kind).toBe(error);
    expect(seen.result.warnings?.some(({ code }) => code === 'SCRIPT_UNUSED')).toBe(warns);
  });

  test.each([
    { by: 'the number of turns', rest: 'max_turns: 2', ending: 'max_turns', turns: 2 },
    {
      by: 'a tool of the agent',
      rest: 'end: {agent_tool: "lookup_*"}',
      ending: 'agent_done',
      turns: 2,
    },
    { by: 'the end of the script', rest: 'max_turns: 9', ending: 'user_done', turns: 4 },
  ])('is ended by $by', async ({ rest, ending, turns }) => {
    const seen = await run(`${REFUND}      ${rest}\n    path: {max_tool_calls: 9}\n`, shop);
    expect(seen.result.conversation).toMatchObject({ ending });
    expect(seen.result.conversation?.turns).toHaveLength(turns);
  });

  test('a script that ends before the agent ended the conversation is an error if the agent must end it', async () => {
    const seen = await run(
      `${REFUND}      end: {user_done: false, agent_tool: transfer}\n    path: {max_tool_calls: 9}\n`,
      shop,
    );
    expect(seen.result).toMatchObject({
      status: 'error',
      error: { kind: 'script' },
      conversation: { blame: 'user' },
    });
  });

  test('a line is repeated up to its "times"', async () => {
    const seen = await run(
      'agent: a\nqueries: [{id: q, conversation: {start: hi, user: {script: [{when: again, say: more, times: 3}]}}, path: {max_tool_calls: 0}}]',
      () => ({ answer: 'again', tool_calls: [] }),
    );
    expect(seen.result.conversation?.turns.map(({ user }) => user)).toEqual([
      'hi',
      'more',
      'more',
      'more',
    ]);
  });
});

describe('what the agent is given', () => {
  const spec = (session: string) =>
    `agent: a\nqueries: [{id: q, conversation: {start: one, session: ${session}, user: {script: [two]}}, correctness: {exact_match: done}}]`;

  test('the whole history and a state object', async () => {
    const given: unknown[] = [];
    await run(spec('stateless'), (message, { turn, messages, state, conversation, query }) => {
      given.push([message, query, turn, messages, { ...state }, typeof conversation]);
      state!.n = turn;
      return 'ok';
    });
    expect(given).toEqual([
      ['one', 'one', 1, [{ role: 'user', content: 'one' }], {}, 'string'],
      [
        'two',
        'one',
        2,
        [
          { role: 'user', content: 'one' },
          { role: 'assistant', content: 'ok' },
          { role: 'user', content: 'two' },
        ],
        { n: 1 },
        'string',
      ],
    ]);
  });

  test('only the newest message if the agent keeps the others itself', async () => {
    const given: unknown[] = [];
    await run(spec('stateful'), (_, { messages }) => {
      given.push(messages);
      return 'ok';
    });
    expect(given).toEqual([undefined, undefined]);
  });
});

describe('an agent that fails in a turn', () => {
  test.each([
    {
      what: 'throws',
      agent: () => {
        throw new Error('boom');
      },
      message: /^turn 2: the agent threw .*boom/,
    },
    { what: 'answers nothing', agent: () => '', message: /^turn 2: .*empty answer/ },
    {
      what: 'hangs',
      agent: () => new Promise(() => {}),
      message: /turn 2: no answer within 300 ms/,
    },
  ])(
    '$what: the error names the turn, and the conversation so far is shown',
    async ({ what, agent, message }) => {
      const { suite } = parseSpec(
        'agent: a\nqueries: [{id: q, conversation: {start: one, user: {script: [two, three]}}, correctness: {exact_match: x}}]',
        { file: 's.yaml' },
      );
      const { results } = await runSuite({
        suite: suite!,
        runner: (text) => (text === 'one' ? 'fine' : agent()),
        retries: 0,
        timeoutMs: 300,
        judge: 'off',
      });
      expect(results[0]).toMatchObject({
        status: 'error',
        error: { message: expect.stringMatching(message) },
        conversation: {
          ending: what === 'hangs' ? 'timeout' : 'error',
          turns: [
            { user: 'one', answer: 'fine' },
            { user: 'two', answer: null, status: 'error' },
          ],
        },
      });
    },
  );
});

describe('turns that the agent gives back', () => {
  const talk = (last: string) =>
    run(REFUND, (message) => ({
      turns: [
        {
          user: message === 'Order 42.' ? last : message,
          answer: `about ${message}`,
          tool_calls: [],
        },
      ],
    }));

  test.each(['Order 42.', 'Context: a shop.\nOrder  42.'])(
    'may end with the message it was sent: %j',
    async (last) => {
      expect((await talk(last)).result.error).toBeUndefined();
    },
  );

  test.each(['I want to return something.', 'Something else.'])(
    'must not end with another: %j',
    async (last) => {
      const { result } = await talk(last);
      expect(result.error).toMatchObject({ kind: 'agent' });
      expect(result.error!.message).toContain(
        `turn 2: the agent gave back turns that end with another message`,
      );
    },
  );
});

test('no two conversations have the same id, not even in a run that is taken up again', async () => {
  const ids = new Set<string>();
  for (let i = 0; i < 2; i++) {
    const { suite } = parseSpec(REFUND, { file: 'spec.yaml' });
    const runner: AgentFunction = (message, { conversation }) => {
      ids.add(conversation!);
      return shop(message, {} as never);
    };
    await runSuite({
      suite: suite!,
      runner,
      judge: 'off',
      retries: 0,
      env: {},
      runId: 'the-same-run',
    });
  }
  expect(ids.size).toBe(2);
});

test('a check on a turn is measured against that turn of the baseline', async () => {
  const { trace } = await run(REFUND, shop);
  const spec = `${REFUND}    turns:\n      - {turn: 2, path: {match_mode: strict, severity: fail}}\n      - {turn: 3, path: {match_mode: strict, severity: fail}}\n`;
  const query = parseSpec(spec, { file: 'spec.yaml' }).suite!.queries[0]!;
  const moved = await run(REFUND, (message, input) => {
    const given = shop(message, input) as { answer: string; tool_calls: object[] };
    return message === 'The lamp.'
      ? { ...given, tool_calls: [{ name: 'refund', args: {} }] }
      : given;
  });
  const result = await evaluateQuery({
    query,
    trace: moved.trace!,
    baseline: { version: 'v1', trace: trace! },
  });
  expect(result.path.checks.map(({ id, status }) => `${id} ${status}`)).toEqual([
    'path.turn[2].match_mode pass',
    'path.turn[3].match_mode fail',
  ]);
});

describe('totals', () => {
  const spec = (cost: string) =>
    `agent: a\nqueries: [{id: q, conversation: {start: one, user: {script: [two]}}, cost: {${cost}, severity: fail}, turns: [{turn: 2, cost: {${cost}, severity: fail}}]}]`;

  test.each([
    { when: 'every turn says what it cost', last: { cost_usd: 0.02 }, statuses: ['fail', 'pass'] },
    { when: 'one turn does not', last: {}, statuses: ['error', 'error'] },
  ])('are summed where $when', async ({ last, statuses }) => {
    const seen = await run(spec('max_cost_usd: 0.025'), (message) => ({
      answer: 'ok',
      ...(message === 'one' ? { cost_usd: 0.01 } : last),
    }));
    expect(seen.result.cost.checks.map(({ status }) => status)).toEqual(statuses);
  });

  test('an agent that repeats the history in each turn is counted once', async () => {
    const call = (id: string) => ({ id, name: 'look', args: {}, result: 'x' });
    const seen = await run(
      'agent: a\nqueries: [{id: q, conversation: {start: one, user: {script: [two]}}, path: {max_tool_calls: 2}}]',
      (message) => ({
        answer: 'ok',
        tool_calls: message === 'one' ? [call('a')] : [call('a'), call('b')],
      }),
    );
    expect(
      seen.trace?.steps.map((step) => step.kind === 'tool' && [step.callId, step.userTurn]),
    ).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
  });
});

describe('the state afterwards', () => {
  const spec = (state: string) => `agent: a\nqueries: [{id: q, query: hi, state: ${state}}]`;
  const program = (code: string) => JSON.stringify(['node', '-e', code]);

  test.each([
    {
      when: 'contains the expected values',
      state: `{command: ${program('console.log(JSON.stringify({a: 1, b: [2]}))')}, subset: {b: [2]}}`,
      status: 'pass',
    },
    {
      when: 'lacks it',
      state: `{command: ${program('console.log(JSON.stringify({a: 1}))')}, subset: {b: [2]}}`,
      status: 'fail',
    },
    {
      when: 'does not conform',
      state: `{command: ${program('console.log(3)')}, json_schema: {type: object}}`,
      status: 'fail',
    },
    {
      when: 'has a key twice',
      state: `{command: ${program('console.log(String.raw`{"a": {"b": 1, "b": 2}}`)')}, subset: {a: {b: 2}}}`,
      status: 'error',
    },
    {
      when: 'is not JSON',
      state: `{command: ${program('console.log("x y")')}, subset: 1}`,
      status: 'error',
    },
    {
      when: 'could not be read',
      state: `{command: ${program('process.exit(3)')}, subset: 1}`,
      status: 'error',
    },
    {
      when: 'takes too long',
      state: `{command: ${program('setTimeout(() => {}, 9000)')}, subset: 1, timeout_ms: 100}`,
      status: 'error',
    },
  ])('$status when it $when', async ({ state, status }) => {
    expect((await run(spec(state), () => 'ok')).result.status).toBe(status);
  });

  test('a recording without a state is an error', async () => {
    const { suite } = parseSpec(spec(`{command: ${program('')}, subset: 1}`), { file: 's.yaml' });
    const { results } = await runSuite({
      suite: suite!,
      traces: new TextEncoder().encode('{"id":"q","query":"hi","answer":"x"}'),
      judge: 'off',
    });
    expect(results[0]).toMatchObject({ status: 'error' });
  });
});

describe('metrics of a conversation', () => {
  test.each([
    {
      when: 'the goal came in time',
      metric: 'turns_to_goal: {max: 4, tool: refund}',
      status: 'pass',
    },
    { when: 'it came late', metric: 'turns_to_goal: {max: 3, tool: refund}', status: 'fail' },
    { when: 'it never came', metric: 'turns_to_goal: {max: 9, tool: cancel}', status: 'fail' },
    {
      when: 'nothing is asked twice',
      metric: 'repeated_questions: {max: 0, severity: fail}',
      status: 'pass',
    },
    { when: 'the judge is off', metric: 'turn_relevancy: 0.5', status: 'skip' },
    { when: 'the role is not given', metric: 'role_adherence: 0.5', status: 'error' },
  ])('$metric is $status where $when', async ({ metric, status }) => {
    const { result } = await run(`${REFUND}    metrics: {${metric}}\n`, shop);
    const checks = [...result.correctness.checks, ...result.path.checks];
    expect(checks.map((check) => check.status)).toEqual([status]);
  });
});
