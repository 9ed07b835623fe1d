import { answerOfTurn, toolNames, traceOfTurn } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { readTraceItems } from '../reader/read-traces.ts';

const user = (content: string) => ({ role: 'user', content });
const says = (content: string) => ({ role: 'assistant', content });
const calls = (id: string, name: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
});
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' });

async function read(recording: unknown) {
  for await (const item of readTraceItems(new TextEncoder().encode(JSON.stringify(recording)))) {
    if (item.ok) return item.trace;
    throw new Error(item.problem.message);
  }
  throw new Error('no trace');
}

const HISTORY = [
  { role: 'system', content: 'Be kind.' },
  user('I want a refund'),
  says('Which order?'),
  user('42'),
  calls('c1', 'lookup'),
  result('c1'),
  says('The lamp?'),
  user('yes'),
  calls('c2', 'refund'),
  result('c2'),
  says('Refunded.'),
];

describe('turns of recorded conversations', () => {
  test.each([
    { format: 'a chat history', recording: { messages: HISTORY } },
    {
      format: 'tau-bench',
      recording: {
        task_id: 1,
        trial: 0,
        reward: 1,
        info: {},
        traj: [...HISTORY, user('###STOP###')],
      },
    },
  ])('$format: each message of the user begins one', async ({ recording }) => {
    const trace = await read(recording);
    expect(
      trace.conversation?.turns.map((turn) => [turn.turn, turn.message, answerOfTurn(turn)]),
    ).toEqual([
      [1, 'I want a refund', 'Which order?'],
      [2, '42', 'The lamp?'],
      [3, 'yes', 'Refunded.'],
    ]);
    expect([1, 2, 3].map((turn) => toolNames(traceOfTurn(trace, turn)!))).toEqual([
      [],
      ['lookup'],
      ['refund'],
    ]);
  });

  const adk = (invocationId: string, author: string, ...parts: object[]) => ({
    id: 'e',
    invocationId,
    author,
    content: { role: author === 'user' ? 'user' : 'model', parts },
  });
  const SESSION = [
    adk('i1', 'user', { text: 'I want a refund' }),
    adk('i1', 'shop', { text: 'Which order?' }),
    adk('i2', 'user', { text: '42' }),
    adk('i2', 'shop', { functionCall: { id: 'adk-1', name: 'lookup', args: {} } }),
    adk('i2', 'shop', {
      functionResponse: { id: 'adk-1', name: 'lookup', response: { status: 'success' } },
    }),
    adk('i2', 'shop', { text: 'The lamp?' }),
  ];
  const actual = (id: string, asked: string, answer: string, tools: object[]) => ({
    actual_invocation: {
      invocation_id: id,
      user_content: { role: 'user', parts: [{ text: asked }] },
      final_response: { role: 'model', parts: [{ text: answer }] },
      intermediate_data: { tool_uses: tools },
    },
  });
  const JUDGED = [
    actual('i1', 'I want a refund', 'Which order?', []),
    actual('i2', '42', 'The lamp?', [{ name: 'lookup', args: {} }]),
  ];
  const started = (runId: string, ...messages: object[]) => ({
    type: 'RUN_STARTED',
    threadId: 'thread',
    runId,
    input: { threadId: 'thread', runId, messages },
  });
  const spoken = (id: string, text: string) => [
    { type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: text },
    { type: 'TEXT_MESSAGE_END', messageId: id },
  ];
  const FIRST = { id: 'u1', role: 'user', content: 'I want a refund' };
  const AG_UI = [
    started('r1', FIRST),
    ...spoken('a1', 'Which order?'),
    { type: 'RUN_FINISHED', threadId: 'thread', runId: 'r1' },
    started(
      'r2',
      FIRST,
      { id: 'a1', role: 'assistant', content: 'Which order?' },
      { id: 'u2', role: 'user', content: '42' },
    ),
    { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'lookup' },
    { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{}' },
    { type: 'TOOL_CALL_END', toolCallId: 'c1' },
    { type: 'TOOL_CALL_RESULT', toolCallId: 'c1', messageId: 't1', content: 'ok', role: 'tool' },
    ...spoken('a2', 'The lamp?'),
    { type: 'RUN_FINISHED', threadId: 'thread', runId: 'r2' },
  ];

  test.each([
    {
      format: 'a session of ADK',
      id: 'session',
      recording: { id: 'session', appName: 'a', userId: 'u', events: SESSION },
    },
    { format: 'events of ADK', id: 'i1', recording: SESSION },
    {
      format: 'the result of an evaluation by ADK',
      id: 'case',
      recording: {
        eval_set_id: 's',
        eval_case_results: [{ eval_id: 'case', eval_metric_result_per_invocation: JUDGED }],
      },
    },
    { format: 'a thread of AG-UI', id: 'thread', recording: AG_UI },
  ])('$format: its runs are the turns of one conversation', async ({ recording, id }) => {
    const trace = await read(recording);
    expect(trace.id).toBe(id);
    expect(
      trace.conversation?.turns.map((turn) => [turn.turn, turn.message, answerOfTurn(turn)]),
    ).toEqual([
      [1, 'I want a refund', 'Which order?'],
      [2, '42', 'The lamp?'],
    ]);
    expect([1, 2].map((turn) => toolNames(traceOfTurn(trace, turn)!))).toEqual([[], ['lookup']]);
    expect(trace.conversation).not.toHaveProperty('ending');
  });

  test('runs of other threads, and those that only continue a turn, stay separate', async () => {
    const count = async (recording: unknown) => {
      let traces = 0;
      for await (const item of readTraceItems(new TextEncoder().encode(JSON.stringify(recording))))
        if (item.ok) traces++;
      return traces;
    };
    const other = AG_UI.map((event, i) =>
      i < 5 ? event : { ...event, ...('threadId' in event ? { threadId: 'other' } : {}) },
    );
    expect(await count(other)).toBe(2);
    const continued = AG_UI.map((event, i) => (i === 5 ? started('r2', FIRST) : event));
    expect(await count(continued)).toBe(2);
    expect(await count(AG_UI)).toBe(1);
  });

  test('a run in which the user spoke once has none', async () => {
    const trace = await read({ messages: HISTORY.slice(0, 3) });
    expect(trace.conversation).toBeUndefined();
    expect(trace.steps.every((step) => step.userTurn === undefined)).toBe(true);
  });

  const turn = (message: string, answer?: string) => [message, answer];

  test.each([
    {
      what: 'the last message was not answered',
      messages: [...HISTORY.slice(0, 7), user('hello?')],
      turns: [turn('I want a refund', 'Which order?'), turn('42', 'The lamp?'), turn('hello?')],
    },
    {
      what: 'there is one answer and then a message without one',
      messages: [user('a'), says('b'), user('c')],
      turns: [turn('a', 'b'), turn('c')],
    },
    {
      what: 'two messages at the end were not answered',
      messages: [user('a'), says('b'), user('c'), user('d')],
      turns: [turn('a', 'b'), turn('c'), turn('d')],
    },
    {
      what: 'the user wrote twice in the middle',
      messages: [user('a'), says('b'), user('c'), user('d'), says('e')],
      turns: [turn('a', 'b'), turn('c'), turn('d', 'e')],
    },
    {
      what: 'the user wrote twice at the beginning',
      messages: [user('a'), user('b'), says('c'), user('d'), says('e')],
      turns: [turn('a'), turn('b', 'c'), turn('d', 'e')],
    },
    {
      what: 'a terminal wrote down its own commands',
      messages: [
        user('a'),
        says('b'),
        user('<command-name>/clear</command-name>'),
        user('c'),
        says('d'),
        user('<local-command-stdout>Bye!</local-command-stdout>'),
        user('[Request interrupted by user]'),
      ],
      turns: [turn('a', 'b'), turn('c', 'd')],
    },
    {
      what: 'an empty message is at the end',
      messages: [user('a'), says('b'), user('c'), says('d'), user(' ')],
      turns: [turn('a', 'b'), turn('c', 'd')],
    },
  ])('a message without an answer is a turn without one: $what', async ({ messages, turns }) => {
    const trace = await read({ messages });
    expect(trace.conversation?.turns.map((each) => [each.message, answerOfTurn(each)])).toEqual(
      turns,
    );
    expect(trace.conversation?.turns.map((each) => each.turn)).toEqual(turns.map((_, i) => i + 1));
    const isOpen = turns.at(-1)?.[1] === undefined;
    expect([trace.final === undefined, trace.captured.final, trace.status]).toEqual(
      isOpen ? [true, 'none', 'incomplete'] : [false, 'full', 'ok'],
    );
  });

  test('what a turn called stays in its turn when the user wrote twice before', async () => {
    const trace = await read({
      messages: [
        user('x'),
        user('a'),
        says('b'),
        user('c'),
        user('d'),
        calls('c1', 'refund'),
        result('c1'),
        says('e'),
      ],
    });
    expect([1, 2, 3, 4].map((n) => toolNames(traceOfTurn(trace, n)!))).toEqual([
      [],
      [],
      [],
      ['refund'],
    ]);
  });

  const UNANSWERED: { format: string; recording: unknown }[] = [
    {
      format: 'anthropic messages',
      recording: {
        messages: [
          user('a'),
          { role: 'assistant', content: [{ type: 'text', text: 'b' }] },
          user('c'),
        ],
      },
    },
    {
      format: 'Gemini contents',
      recording: {
        contents: [
          { role: 'user', parts: [{ text: 'a' }] },
          { role: 'model', parts: [{ text: 'b' }] },
          { role: 'user', parts: [{ text: 'c' }] },
        ],
      },
    },
    {
      format: 'LangChain messages',
      recording: {
        messages: [
          { type: 'human', content: 'a' },
          { type: 'ai', content: 'b', tool_calls: [] },
          { type: 'human', content: 'c' },
        ],
      },
    },
    {
      format: 'Pydantic AI',
      recording: [
        { kind: 'request', parts: [{ part_kind: 'user-prompt', content: 'a' }] },
        { kind: 'response', parts: [{ part_kind: 'text', content: 'b' }] },
        { kind: 'request', parts: [{ part_kind: 'user-prompt', content: 'c' }] },
      ],
    },
    {
      format: 'OpenAI Agents items',
      recording: [
        { role: 'user', content: 'a' },
        {
          type: 'message',
          id: 'm',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'b', annotations: [] }],
        },
        { role: 'user', content: 'c' },
      ],
    },
    {
      format: 'a session of ADK',
      recording: {
        id: 's',
        appName: 'a',
        userId: 'u',
        events: [
          adk('i1', 'user', { text: 'a' }),
          adk('i1', 'shop', { text: 'b' }),
          adk('i2', 'user', { text: 'c' }),
        ],
      },
    },
    {
      format: 'a thread of AG-UI',
      recording: [
        started('r1', { id: 'u1', role: 'user', content: 'a' }),
        ...spoken('a1', 'b'),
        { type: 'RUN_FINISHED', threadId: 'thread', runId: 'r1' },
        started(
          'r2',
          { id: 'u1', role: 'user', content: 'a' },
          { id: 'a1', role: 'assistant', content: 'b' },
          { id: 'u2', role: 'user', content: 'c' },
        ),
        { type: 'RUN_FINISHED', threadId: 'thread', runId: 'r2' },
      ],
    },
    {
      format: 'Vercel AI SDK',
      recording: [
        { id: '1', role: 'user', parts: [{ type: 'text', text: 'a' }] },
        { id: '2', role: 'assistant', parts: [{ type: 'text', text: 'b' }] },
        { id: '3', role: 'user', parts: [{ type: 'text', text: 'c' }] },
      ],
    },
    {
      format: 'tau-bench',
      recording: {
        task_id: 1,
        trial: 0,
        reward: 0,
        info: {},
        traj: [user('a'), says('b'), user('c')],
      },
    },
    {
      format: 'tau2-bench',
      recording: {
        task_id: '1',
        termination_reason: 'user_stop',
        messages: [user('a'), says('b'), user('c')],
      },
    },
    {
      format: 'AutoGen',
      recording: {
        messages: [
          { type: 'TextMessage', source: 'user', content: 'a' },
          { type: 'TextMessage', source: 'shop', content: 'b' },
          { type: 'TextMessage', source: 'user', content: 'c' },
        ],
      },
    },
    {
      format: 'Strands',
      recording: {
        messages: [
          { role: 'user', content: [{ text: 'a' }] },
          { role: 'assistant', content: [{ text: 'b' }] },
          { role: 'user', content: [{ text: 'c' }] },
        ],
      },
    },
    {
      format: 'the simple form',
      recording: { turns: [{ user: 'a', answer: 'b' }, { user: 'c' }] },
    },
  ];

  test.each(UNANSWERED)(
    '$format: a last message without an answer is the last turn',
    async ({ recording }) => {
      const trace = await read(recording);
      expect(trace.conversation?.turns.map((each) => [each.message, answerOfTurn(each)])).toEqual([
        ['a', 'b'],
        ['c', undefined],
      ]);
      expect(trace.final).toBeUndefined();
    },
  );

  test.each([
    { word: 'user_stop', ending: 'user_done' },
    { word: 'agent_stop', ending: 'agent_done' },
    { word: 'max_steps', ending: 'max_turns' },
    { word: 'timeout', ending: 'timeout' },
    { word: 'too_many_errors', ending: 'error' },
    { word: 'infrastructure_error', ending: 'error' },
  ])('tau2-bench: $word is the ending $ending', async ({ word, ending }) => {
    const messages = [user('a'), says('b'), user('c'), says('d')];
    const trace = await read({ task_id: '1', termination_reason: word, messages });
    expect(trace.conversation?.ending).toBe(ending);
  });

  const again = (id: string, name: string) => [
    { type: 'TOOL_CALL_START', toolCallId: id, toolCallName: name },
    { type: 'TOOL_CALL_ARGS', toolCallId: id, delta: '{}' },
    { type: 'TOOL_CALL_END', toolCallId: id },
    { type: 'TOOL_CALL_RESULT', toolCallId: id, messageId: 't1', content: 'ok', role: 'tool' },
  ];
  const finished = (runId: string) => ({ type: 'RUN_FINISHED', threadId: 'thread', runId });
  const asks = (content: string) => ({ id: '1', role: 'user', content });
  test.each([
    {
      what: 'AG-UI: ids of messages and calls restart in each run',
      recording: [
        started('r1', asks('a')),
        ...again('call_1', 'lookup'),
        ...spoken('2', 'b'),
        finished('r1'),
        started('r2', asks('c')),
        ...again('call_1', 'lookup'),
        ...again('call_2', 'refund'),
        ...spoken('2', 'd'),
        finished('r2'),
      ],
    },
    {
      what: 'AG-UI: a snapshot with the ids of an earlier run',
      recording: [
        started('r1', asks('a')),
        ...again('call_1', 'lookup'),
        ...spoken('2', 'b'),
        finished('r1'),
        started('r2', asks('c')),
        ...again('call_1', 'lookup'),
        ...again('call_2', 'refund'),
        { type: 'MESSAGES_SNAPSHOT', messages: [{ id: '2', role: 'assistant', content: 'd' }] },
        finished('r2'),
      ],
    },
    {
      what: 'ADK: ids of events and calls restart in each invocation',
      recording: [
        adk('i1', 'user', { text: 'a' }),
        adk('i1', 'shop', { functionCall: { id: 'c1', name: 'lookup', args: {} } }),
        adk('i1', 'shop', {
          functionResponse: { id: 'c1', name: 'lookup', response: { status: 'success' } },
        }),
        adk('i1', 'shop', { text: 'b' }),
        adk('i2', 'user', { text: 'c' }),
        adk('i2', 'shop', { functionCall: { id: 'c1', name: 'lookup', args: {} } }),
        adk('i2', 'shop', {
          functionResponse: { id: 'c1', name: 'lookup', response: { status: 'success' } },
        }),
        adk('i2', 'shop', { functionCall: { id: 'c2', name: 'refund', args: {} } }),
        adk('i2', 'shop', {
          functionResponse: { id: 'c2', name: 'refund', response: { status: 'success' } },
        }),
        adk('i2', 'shop', { text: 'd' }),
      ],
    },
    {
      what: 'the simple form: ids of calls restart in each turn',
      recording: {
        turns: [
          { user: 'a', answer: 'b', tool_calls: [{ id: '1', name: 'lookup', args: {} }] },
          {
            user: 'c',
            answer: 'd',
            tool_calls: [
              { id: '1', name: 'lookup', args: {} },
              { id: '2', name: 'refund', args: {} },
            ],
          },
        ],
      },
    },
  ])('$what: nothing is lost', async ({ recording }) => {
    const trace = await read(recording);
    expect(trace.conversation?.turns.map((each) => [each.message, answerOfTurn(each)])).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect([1, 2].map((n) => toolNames(traceOfTurn(trace, n)!))).toEqual([
      ['lookup'],
      ['lookup', 'refund'],
    ]);
  });

  test('AG-UI: an id that comes again in one run is another message, and another call', async () => {
    const trace = await read([
      started('r1', asks('a')),
      ...spoken('2', 'One moment.'),
      ...again('call_1', 'lookup'),
      ...again('call_1', 'refund'),
      ...spoken('2', 'Done.'),
      finished('r1'),
    ]);
    expect(toolNames(trace)).toEqual(['lookup', 'refund']);
    expect(trace.final?.text).toBe('Done.');
  });
});
