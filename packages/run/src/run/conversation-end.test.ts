import { parseSpec } from '@agentci/spec';
import { ENDINGS } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import type { AgentFunction, RunOptions } from './run-options.ts';
import { runSuite } from './run-suite.ts';

async function run(spec: string, options: Omit<RunOptions, 'suite'>) {
  const { suite, diagnostics } = parseSpec(spec, { file: 'spec.yaml' });
  if (suite === undefined) throw new Error(JSON.stringify(diagnostics));
  const { results, summary } = await runSuite({
    suite,
    judge: 'off',
    retries: 0,
    timeoutMs: 2000,
    ...options,
  });
  return { result: results[0]!, exit: summary.exit_code };
}

const recorded = (spec: string, recording: object) =>
  run(spec, { traces: new TextEncoder().encode(JSON.stringify(recording)) });
const live = (spec: string, agent: AgentFunction) => run(spec, { runner: agent });

const CONVERSATION = `
agent: a
queries:
  - id: q
    conversation: {start: one, user: {script: [two]}}
    correctness: {not_in_answer: [sorry]}
`;
const QUERY = 'agent: a\nqueries: [{id: q, query: one, correctness: {not_in_answer: [sorry]}}]';
const TURNS = [
  { user: 'one', answer: 'fine', tool_calls: [] },
  { user: 'two', answer: 'done', tool_calls: [] },
];

describe('the ending of a recorded conversation', () => {
  const JUDGED = new Set<string>(['user_done', 'agent_done', 'max_turns']);

  test.each(ENDINGS.map((ending) => ({ ending, status: JUDGED.has(ending) ? 'pass' : 'error' })))(
    '$ending gives $status',
    async ({ ending, status }) => {
      const { result, exit } = await recorded(CONVERSATION, { id: 'q', ending, turns: TURNS });
      expect([result.status, exit]).toEqual([status, status === 'pass' ? 0 : 2]);
      expect(result.conversation).toMatchObject({
        ending,
        turns: [{ answer: 'fine' }, { answer: 'done' }],
      });
      if (status === 'error') expect(result.error?.message).toContain(`its ending is "${ending}"`);
    },
  );

  test.each(['timeout', 'budget', 'error', 'out_of_scope'])(
    '%s counts the same if the spec has a plain query',
    async (ending) => {
      expect((await recorded(QUERY, { id: 'q', ending, turns: TURNS })).result.status).toBe(
        'error',
      );
    },
  );

  test.each([
    { ending: 'timeout', status: 'error' },
    { ending: 'user_done', status: 'pass' },
  ])('$ending next to one question and its answer gives $status', async ({ ending, status }) => {
    const { result } = await recorded(QUERY, { id: 'q', query: 'one', answer: 'fine', ending });
    expect(result.status).toBe(status);
  });

  test('a word that is not known is refused, not passed over', async () => {
    const { result } = await recorded(CONVERSATION, { id: 'q', ending: 'gave up', turns: TURNS });
    expect(result).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('ending') },
    });
  });

  const message = (role: string, content: string) => ({ role, content });
  const SAID = [
    message('user', 'one'),
    message('assistant', 'fine'),
    message('user', 'two'),
    message('assistant', 'ok'),
  ];
  const limited = (limit: string) => ({
    version: 2,
    status: 'success',
    eval: { task: 't', model: 'm', run_id: 'r' },
    samples: [
      {
        id: 'q',
        epoch: 1,
        input: 'one',
        target: '',
        messages: SAID,
        limit: { type: limit, limit: 1 },
      },
    ],
  });
  test.each([
    {
      what: 'tau2-bench: timeout',
      recording: { task_id: 'q', termination_reason: 'timeout', messages: SAID },
      status: 'error',
    },
    {
      what: 'tau2-bench: too_many_errors',
      recording: { task_id: 'q', termination_reason: 'too_many_errors', messages: SAID },
      status: 'error',
    },
    {
      what: 'tau2-bench: user_stop',
      recording: { task_id: 'q', termination_reason: 'user_stop', messages: SAID },
      status: 'pass',
    },
    { what: 'Inspect: a limit of time', recording: limited('time'), status: 'error' },
    { what: 'Inspect: a limit of tokens', recording: limited('token'), status: 'error' },
    {
      what: 'AutoGen: a timeout',
      recording: {
        id: 'q',
        stop_reason: 'Timeout of 5 seconds reached',
        messages: SAID.map(({ role, content }) => ({
          type: 'TextMessage',
          source: role === 'user' ? 'user' : 'shop',
          content,
        })),
      },
      status: 'error',
    },
  ])('$what gives $status', async ({ recording, status }) => {
    expect((await recorded(CONVERSATION, recording)).result.status).toBe(status);
  });
});

describe('a turn without an answer', () => {
  test.each([
    { what: 'is empty', last: { user: 'two', answer: '' } },
    { what: 'shows nothing', last: { user: 'two', answer: '\u200b \n' } },
    { what: 'is not there', last: { user: 'two' } },
    {
      what: 'is not there, though tools were called',
      last: { user: 'two', tool_calls: [{ name: 'x', args: {} }] },
    },
  ])('an answer that $what is an error in a recording', async ({ last }) => {
    for (const turns of [
      [TURNS[0], last],
      [TURNS[0], last, { user: 'three', answer: 'ok' }],
    ]) {
      const { result, exit } = await recorded(CONVERSATION, { id: 'q', turns });
      expect([result.status, exit]).toEqual(['error', 2]);
      expect(result.error?.message).toBe('turn 2: the recording has no answer to "two"');
      expect(result.conversation?.turns).toHaveLength(turns.length);
    }
  });

  test('a tool that ended an earlier turn is not an answer to a later one', async () => {
    const ends = CONVERSATION.replace(
      '{start: one,',
      '{start: one, end: {agent_tool: bye},',
    ).replace('correctness: {not_in_answer: [sorry]}', 'path: {max_tool_calls: 3}');
    const call = { name: 'bye', args: {}, result: 'ok' };
    const early = [
      { user: 'one', answer: 'ok', tool_calls: [call] },
      { user: 'two', tool_calls: [] },
    ];
    const late = [
      { user: 'one', answer: 'ok', tool_calls: [] },
      { user: 'two', tool_calls: [call] },
    ];
    expect((await recorded(ends, { id: 'q', turns: early })).result.status).toBe('error');
    expect((await recorded(ends, { id: 'q', turns: late })).result.status).not.toBe('error');
  });

  test.each([
    { what: 'a last message of the user', messages: ['user one', 'assistant ok', 'user two'] },
    {
      what: 'two messages of the user in a row',
      messages: ['user one', 'assistant ok', 'user two', 'user 3', 'assistant ok'],
    },
  ])('$what in a chat history is an error that names the turn', async ({ messages }) => {
    const history = messages.map((line) => {
      const [role, content] = line.split(' ');
      return { role, content };
    });
    const { result } = await recorded(CONVERSATION, { messages: history });
    expect(result).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('turn 2: ') },
    });
  });

  test.each([
    {
      what: 'calls and an empty answer',
      output: { answer: '', tool_calls: [{ name: 'x', args: {} }] },
    },
    { what: 'an answer of spaces', output: { answer: ' \n', tool_calls: [] } },
    { what: 'calls alone', output: { tool_calls: [{ name: 'x', args: {} }] } },
  ])('$what is an error of a live agent', async ({ output }) => {
    const { result } = await live(CONVERSATION, (text) => (text === 'one' ? 'fine' : output));
    expect(result).toMatchObject({
      status: 'error',
      error: { kind: 'agent', message: expect.stringMatching(/^turn 2: .*empty answer/) },
      conversation: { ending: 'error', turns: [{ answer: 'fine' }, { user: 'two', answer: null }] },
    });
  });

  test('an agent may end the conversation with a call and no words', async () => {
    const spec = CONVERSATION.replace('user: {', 'end: {agent_tool: transfer}, user: {').replace(
      'correctness: {not_in_answer: [sorry]}',
      'path: {max_tool_calls: 1}',
    );
    const transfer = { answer: '', tool_calls: [{ name: 'transfer', args: {}, result: 'ok' }] };
    const { result } = await live(spec, (text) =>
      text === 'one' ? { answer: 'fine', tool_calls: [] } : transfer,
    );
    expect(result).toMatchObject({ status: 'pass', conversation: { ending: 'agent_done' } });
    const turns = [TURNS[0], { user: 'two', ...transfer }];
    expect((await recorded(spec, { id: 'q', turns })).result.status).toBe('pass');
  });
});

describe('a conversation that the agent has to end', () => {
  const spec = (more: string) => `
agent: a
queries:
  - id: q
    conversation:
      start: one
      user: {script: [two, three, four]}
      end: {user_done: false, agent_tool: transfer}${more}
    path: {max_tool_calls: 9}
`;
  const transfer = (rest: object = { result: 'ok' }) => ({ name: 'transfer', args: {}, ...rest });
  const agent =
    (at: string, call: object): AgentFunction =>
    (text) => ({ answer: 'ok', tool_calls: text === at ? [call] : [] });

  test.each([
    {
      what: 'it called the tool',
      act: agent('two', transfer()),
      status: 'pass',
      ending: 'agent_done',
    },
    {
      what: 'max_turns came first',
      act: agent('never', transfer()),
      status: 'fail',
      ending: 'max_turns',
    },
    {
      what: 'its call failed',
      act: agent('two', transfer({ error: 'busy' })),
      status: 'fail',
      ending: 'max_turns',
    },
    {
      what: 'its calls were not captured',
      act: (() => 'ok') as AgentFunction,
      status: 'error',
      ending: 'max_turns',
    },
  ])('$status where $what', async ({ act, status, ending }) => {
    const { result } = await live(spec('\n      max_turns: 3'), act);
    expect(result).toMatchObject({ status, conversation: { ending } });
    expect(result.correctness.checks).toMatchObject([
      { id: 'correctness.end', status, location: { line: 8 } },
    ]);
  });

  test('a script that is used up is still the error of the script', async () => {
    const { result } = await live(spec(''), agent('never', transfer()));
    expect(result).toMatchObject({ status: 'error', error: { kind: 'script' } });
  });

  const calls = (...names: string[]) => names.map((name) => ({ name, args: {}, result: 'ok' }));
  test.each([
    { what: 'has the call', last: { tool_calls: calls('transfer') }, ending: {}, status: 'pass' },
    {
      what: 'ends at max_turns',
      last: { tool_calls: [] },
      ending: { ending: 'max_turns' },
      status: 'fail',
    },
    {
      what: 'ends with the user',
      last: { tool_calls: [] },
      ending: { ending: 'user_done' },
      status: 'error',
    },
    { what: 'does not say why it ends', last: { tool_calls: [] }, ending: {}, status: 'error' },
    { what: 'does not show calls', last: {}, ending: { ending: 'max_turns' }, status: 'error' },
  ])('a recording that $what gives $status', async ({ last, ending, status }) => {
    const turns = [TURNS[0], { user: 'two', answer: 'ok', ...last }];
    const { result } = await recorded(
      spec('').replace('path: {max_tool_calls: 9}', 'correctness: {not_in_answer: [x]}'),
      {
        id: 'q',
        turns,
        ...ending,
      },
    );
    expect(result.status).toBe(status);
  });
});
