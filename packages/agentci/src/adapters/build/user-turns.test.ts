import { describe, expect, test } from 'vitest';
import { toolNames } from '../../trace/selectors.ts';
import { answerOfTurn, traceOfTurn } from '../../trace/turns.ts';
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
      recording: { task_id: 1, trial: 0, reward: 1, info: {}, traj: [...HISTORY, user('###STOP###')] },
    },
  ])('$format: each message of the user begins one', async ({ recording }) => {
    const trace = await read(recording);
    expect(trace.conversation?.turns.map((turn) => [turn.turn, turn.message, answerOfTurn(turn)])).toEqual([
      [1, 'I want a refund', 'Which order?'],
      [2, '42', 'The lamp?'],
      [3, 'yes', 'Refunded.'],
    ]);
    expect([1, 2, 3].map((turn) => toolNames(traceOfTurn(trace, turn)!))).toEqual([[], ['lookup'], ['refund']]);
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
    adk('i2', 'shop', { functionResponse: { id: 'adk-1', name: 'lookup', response: { status: 'success' } } }),
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
    expect(trace.conversation?.turns.map((turn) => [turn.turn, turn.message, answerOfTurn(turn)])).toEqual([
      [1, 'I want a refund', 'Which order?'],
      [2, '42', 'The lamp?'],
    ]);
    expect([1, 2].map((turn) => toolNames(traceOfTurn(trace, turn)!))).toEqual([[], ['lookup']]);
    expect(trace.conversation).not.toHaveProperty('ending');
  });

  test('runs of other threads, and those that only continue a turn, stay runs of their own', async () => {
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

  test('a message that was not answered is not a turn', async () => {
    const trace = await read({ messages: [...HISTORY.slice(0, 7), user('hello?')] });
    expect(trace.conversation?.turns).toHaveLength(2);
  });
});
