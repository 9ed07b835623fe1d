import { readOne } from '@agentci/testing/read-all';
import { toolNames } from '@agentci/trace';
import { describe, expect, test } from 'vitest';

const lines = (...values: readonly object[]): string =>
  values.map((value) => JSON.stringify(value)).join('\n');

const message = {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Done.' }],
};
const response = (more: object) => ({
  id: 'resp_2',
  object: 'response',
  status: 'completed',
  model: 'm',
  output: [message],
  usage: { input_tokens: 10, output_tokens: 50, total_tokens: 60 },
  ...more,
});

const claude = (usage: object, more: object = {}) => ({
  request: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  response: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Done.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 5, output_tokens: 5, ...usage },
    ...more,
  },
});

const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r' };
const finished = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' };
const spoken = [
  { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Done.' },
  { type: 'TEXT_MESSAGE_END', messageId: 'm' },
];

const codexMessage = (id: string) => ({
  type: 'item.completed',
  item: { id, type: 'agent_message', text: 'Done.' },
});
const codexEnd = { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } };

const generation = {
  id: 'o1',
  type: 'GENERATION',
  name: 'llm',
  model: 'm',
  startTime: '2026-05-01T10:00:00Z',
  endTime: '2026-05-01T10:00:01Z',
  input: [{ role: 'user', content: 'hi' }],
  output: { role: 'assistant', content: 'Done.' },
};
const langfuse = (...observations: readonly object[]) => ({ trace: { id: 't' }, observations });

const span = (
  id: string,
  parent: string | undefined,
  name: string,
  attributes: Readonly<Record<string, unknown>>,
) => ({
  traceId: 'a'.repeat(32),
  spanId: id.repeat(16),
  ...(parent === undefined ? {} : { parentSpanId: parent.repeat(16) }),
  name,
  startTimeUnixNano: '1700000000000000000',
  endTimeUnixNano: '1700000001000000000',
  attributes: Object.entries(attributes).map(([key, value]) => ({
    key,
    value: Array.isArray(value)
      ? { arrayValue: { values: value.map((item) => ({ stringValue: item })) } }
      : { stringValue: value },
  })),
});
const otlp = (...spans: readonly unknown[]) => ({
  resourceSpans: [{ scopeSpans: [{ scope: {}, spans }] }],
});
const desk = span('1', undefined, 'invoke_agent desk', {
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': 'desk',
});
const chat = span('2', '1', 'chat m', {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'm',
  'gen_ai.output.messages': JSON.stringify([
    { role: 'assistant', parts: [{ type: 'text', content: 'Done.' }], finish_reason: 'stop' },
  ]),
});
const helper = span('3', '1', 'invoke_agent helper', {
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': 'helper',
});

const update = (inner: object) => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId: 's', update: inner },
});
const prompt = {
  jsonrpc: '2.0',
  id: 1,
  method: 'session/prompt',
  params: { sessionId: 's', prompt: [] },
};
const said = update({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text: 'Done.' },
});
const ended = { jsonrpc: '2.0', id: 1, result: { stopReason: 'end_turn' } };

describe('a recording that shows that parts are missing does not claim all tool calls', () => {
  test.each([
    [
      'a response of a conversation that the provider keeps',
      response({ conversation: { id: 'c' } }),
      'HISTORY_ELSEWHERE',
    ],
    [
      'a response that goes on from one that is not there',
      response({ previous_response_id: 'resp_1' }),
      'HISTORY_ELSEWHERE',
    ],
    [
      'a request that names the conversation',
      { request: { model: 'm', conversation: 'c', input: 'hi' }, response: response({}) },
      'HISTORY_ELSEWHERE',
    ],
    [
      'a response without output for which tokens were paid',
      response({ output: [] }),
      'REPLY_EMPTY',
    ],
    [
      'a reply that took several rounds at the provider',
      claude({
        iterations: [
          { type: 'message', output_tokens: 2 },
          { type: 'message', output_tokens: 3 },
        ],
      }),
      'CALLS_HINTED',
    ],
    [
      'a reply after which tool uses were cleared',
      claude(
        {},
        {
          context_management: {
            applied_edits: [{ type: 'clear_tool_uses', cleared_tool_uses: 8 }],
          },
        },
      ),
      'CALLS_HINTED',
    ],
    [
      'a reply whose history was compacted',
      claude(
        {},
        {
          content: [
            { type: 'compaction', content: 'I tidied.' },
            { type: 'text', text: 'Done.' },
          ],
        },
      ),
      'CALLS_HINTED',
    ],
    [
      'a reply with the container that code ran in',
      claude({}, { container: { id: 'c', expires_at: '2026-05-01T10:00:00Z' } }),
      'CALLS_HINTED',
    ],
    [
      'AG-UI: a custom event named after a call',
      lines(
        started,
        { type: 'CUSTOM', name: 'ToolCall', value: { name: 'rm' } },
        ...spoken,
        finished,
      ),
      'BLOCK_UNKNOWN',
    ],
    [
      'AG-UI: a custom event that holds a call',
      lines(
        started,
        { type: 'CUSTOM', name: 'progress', value: { toolName: 'rm' } },
        ...spoken,
        finished,
      ),
      'BLOCK_UNKNOWN',
    ],
    [
      'AG-UI: an activity that names a tool',
      lines(
        started,
        { type: 'ACTIVITY_SNAPSHOT', activityType: 'WORK', content: { tool: 'rm' } },
        ...spoken,
        finished,
      ),
      'BLOCK_UNKNOWN',
    ],
    ['AG-UI: a run without its end', lines(started, ...spoken), 'RUN_NOT_WHOLE'],
    ['AG-UI: a run without its end and its start', lines(...spoken), 'RUN_NOT_WHOLE'],
    [
      'codex exec: items are numbered from 0',
      lines({ type: 'thread.started', thread_id: 't' }, codexMessage('item_1'), codexEnd),
      'CHILDREN_MISSING',
    ],
    [
      'codex exec: a turn without its end',
      lines({ type: 'thread.started', thread_id: 't' }, codexMessage('item_0')),
      'RUN_NOT_WHOLE',
    ],
    [
      'codex exec: a second turn without its end',
      lines({ type: 'thread.started', thread_id: 't' }, codexMessage('item_0'), codexEnd, {
        type: 'turn.started',
      }),
      'RUN_NOT_WHOLE',
    ],
    [
      'Langfuse: a generation whose parent is not exported',
      langfuse({ ...generation, parentObservationId: 'gone' }),
      'PARENT_MISSING',
    ],
    [
      'Langfuse: a span with input and output, no type for tools',
      langfuse(generation, {
        ...generation,
        id: 'o2',
        type: 'SPAN',
        name: 'rm',
        input: { path: '/' },
        output: 'ok',
      }),
      'STEP_UNKNOWN',
    ],
    [
      'Claude stream-json without its result',
      lines(
        { type: 'system', subtype: 'init', session_id: 's' },
        { type: 'assistant', session_id: 's', message: claude({}).response },
      ),
      'RUN_NOT_WHOLE',
    ],
    [
      'an agent inside another of which nothing is recorded',
      otlp(desk, chat, helper),
      'CHILDREN_MISSING',
    ],
  ])('%s', async (_, recording, code) => {
    const trace = await readOne(recording);
    expect(trace.captured.toolCalls).toBe('partial');
    expect(trace.warnings.map((warning) => warning.code)).toContain(code);
  });
});

describe('what looks like a missing part and is none', () => {
  test.each([
    [
      'responses that are all there',
      [response({ id: 'resp_1' }), response({ previous_response_id: 'resp_1' })],
    ],
    [
      'an empty reply that cost nothing',
      response({ output: [], usage: { input_tokens: 9, output_tokens: 2 } }),
    ],
    ['one round at the provider', claude({ iterations: [{ type: 'message', output_tokens: 2 }] })],
    [
      'a custom event about something else',
      lines(
        started,
        { type: 'CUSTOM', name: 'progress', value: { percent: 5 } },
        ...spoken,
        finished,
      ),
    ],
    [
      'codex exec with all its items',
      lines({ type: 'thread.started', thread_id: 't' }, codexMessage('item_0'), codexEnd),
    ],
    [
      'Langfuse below a span of another program',
      langfuse(
        { id: 'o0', type: 'SPAN', name: 'desk', parentObservationId: 'web' },
        { ...generation, parentObservationId: 'o0' },
      ),
    ],
    [
      'an agent inside another with a reply of its own',
      otlp(desk, chat, helper, { ...chat, spanId: '4'.repeat(16), parentSpanId: '3'.repeat(16) }),
    ],
  ])('%s', async (_, recording) => {
    expect((await readOne(recording)).captured.toolCalls).toBe('full');
  });
});

describe('calls that only their surroundings name', () => {
  test('the span around the calls of a reply names them', async () => {
    const around = span('3', '1', 'running 2 tools', {
      tools: ['look', 'rm'],
      'logfire.msg': 'running 2 tools',
    });
    const look = span('4', '3', 'running tool', {
      'gen_ai.tool.name': 'look',
      tool_arguments: '{}',
    });
    expect(toolNames(await readOne(otlp(desk, chat, around, look)))).toEqual(
      expect.arrayContaining(['look', 'rm']),
    );
    expect(toolNames(await readOne(otlp(desk, chat, around, look)))).toHaveLength(2);
  });

  const asks = {
    jsonrpc: '2.0',
    id: 5,
    method: 'session/request_permission',
    params: {
      sessionId: 's',
      toolCall: { toolCallId: 'c9', title: 'rm', kind: 'delete', rawInput: { path: '/' } },
    },
  };
  const command = {
    jsonrpc: '2.0',
    id: 6,
    method: 'terminal/create',
    params: { sessionId: 's', command: 'rm' },
  };
  const running = {
    sessionUpdate: 'tool_call',
    toolCallId: 'c1',
    kind: 'execute',
    status: 'in_progress',
  };

  test.each([
    ['a permission that was asked for', [asks], ['delete']],
    ['a command in a terminal', [command], ['execute']],
    ['a command that is part of a call', [update(running), command], ['execute']],
    [
      'a command while a file is read',
      [update({ ...running, kind: 'read' }), command],
      ['read', 'execute'],
    ],
    [
      'a call that is told of after its permission',
      [asks, update({ ...running, toolCallId: 'c9', kind: 'delete' })],
      ['delete'],
    ],
  ])('ACP: %s', async (_, messages, names) => {
    const trace = await readOne(lines(prompt, ...messages, said, ended));
    expect(toolNames(trace)).toEqual(names);
    expect(trace.captured.toolCalls).toBe('partial');
  });

  test('ACP: a refused call is shown as denied, and a name that comes later counts', async () => {
    const refused = { jsonrpc: '2.0', id: 5, result: { outcome: { outcome: 'cancelled' } } };
    const named = update({
      ...running,
      sessionUpdate: 'tool_call_update',
      toolCallId: 'c9',
      _meta: { claudeCode: { toolName: 'Delete' } },
    });
    const trace = await readOne(lines(prompt, asks, refused, named, said, ended));
    expect(trace.steps).toMatchObject([
      { kind: 'llm' },
      { kind: 'tool', name: 'Delete', status: 'cancelled' },
      {},
    ]);
    expect(trace.captured.toolCalls).toBe('full');
  });
});
