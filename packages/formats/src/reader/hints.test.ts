import { readOne } from '@agentci/testing/read-all';
import { describe, expect, test } from 'vitest';

const gemini = (parts: unknown[], rest: object = {}) => ({
  request: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  response: {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0, ...rest }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 5, totalTokenCount: 10 },
    modelVersion: 'gemini-2.5-flash',
  },
});
const chat = (message: object) => ({
  id: 'c1',
  object: 'chat.completion',
  model: 'm',
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'Done.', ...message },
    },
  ],
});
const anthropic = (rest: object, content: unknown[] = [{ type: 'text', text: 'Done.' }]) => ({
  id: 'm1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content,
  stop_reason: 'end_turn',
  usage: { input_tokens: 5, output_tokens: 5 },
  ...rest,
});

const chatReply = (message: object) => ({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
});

describe('a recording that tells of a call its reader does not know', () => {
  test.each([
    ['code that ran at Gemini', gemini([{ executableCode: { code: 'x' } }, { text: 'Done.' }])],
    [
      'a search that ran at Gemini',
      gemini([{ text: 'Done.' }], { groundingMetadata: { webSearchQueries: ['q'] } }),
    ],
    [
      'a part of an unknown kind with a name',
      gemini([{ agentCall: { name: 'delete_all' } }, { text: 'Done.' }]),
    ],
    ["Groq's executed tools", chat({ executed_tools: [{ name: 'delete_all' }] })],
    ['calls under another spelling', chat({ toolCalls: [{ name: 'delete_all' }] })],
    ['a call written as text', chat({ content: '<tool_call>{"name": "delete_all"}</tool_call>' })],
    [
      'a count of searches',
      anthropic({
        usage: { input_tokens: 5, output_tokens: 5, server_tool_use: { web_search_requests: 3 } },
      }),
    ],
    ['a turn that was paused', anthropic({ stop_reason: 'pause_turn' })],
  ])('%s: tool calls are partly known', async (_, recording) => {
    const { captured, warnings } = await readOne(recording);
    expect(captured.toolCalls).toBe('partial');
    expect(warnings.length).toBeGreaterThan(0);
  });

  test.each([
    [
      'tools that may be used',
      { ...chat({}), tools: [{ type: 'function', function: { name: 'delete_all' } }] },
    ],
    [
      'words about calls in a result',
      anthropic({}, [{ type: 'text', text: 'The tool_calls list names delete_all.' }]),
    ],
    [
      'no use of the search',
      anthropic({
        usage: { input_tokens: 5, output_tokens: 5, server_tool_use: { web_search_requests: 0 } },
      }),
    ],
    ['an empty list of calls', chat({ tool_calls: [], executed_tools: [] })],
  ])('%s: all is known', async (_, recording) => {
    expect((await readOne(recording)).captured.toolCalls).toBe('full');
  });

  const span = (id: string, name: string, attributes: Readonly<Record<string, unknown>>) => ({
    traceId: 'a'.repeat(32),
    spanId: id.repeat(16),
    parentSpanId: id === '1' ? undefined : '1'.repeat(16),
    name,
    startTimeUnixNano: `${id}000`,
    endTimeUnixNano: id === '1' ? '9000' : `${id}500`,
    attributes: Object.entries({ 'gen_ai.operation.name': name.split(' ')[0], ...attributes }).map(
      ([key, stringValue]) => ({ key, value: { stringValue } }),
    ),
  });
  const agent = (tool: Readonly<Record<string, unknown>>) => ({
    resourceSpans: [
      {
        scopeSpans: [
          {
            scope: {},
            spans: [
              span('1', 'invoke_agent A', { 'gen_ai.agent.name': 'A' }),
              span('2', 'chat m', { 'gen_ai.request.model': 'm' }),
              span('3', 'execute_tool lookup', { 'gen_ai.tool.name': 'lookup', ...tool }),
              span('4', 'chat m', { 'gen_ai.request.model': 'm' }),
            ],
          },
        ],
      },
    ],
  });
  test.each([
    ['the id of a call that was read', agent({ 'gen_ai.tool.call.id': 'call_1' })],
    ['the kind of a span that was read', agent({ 'langsmith.span.kind': 'tool' })],
    [
      'an inventory of tools beside calls that were read',
      {
        ...chat({
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{}' } },
          ],
        }),
        tool_usage: { lookup: 1 },
      },
    ],
  ])('%s is not a hint', async (_, recording) => {
    const { captured, warnings } = await readOne(recording);
    expect(captured.toolCalls).toBe('full');
    expect(warnings).toEqual([]);
  });

  const reAct = 'Thought: x\nAction: Delegate work to coworker\nAction Input: {}';
  test.each([
    ['a model that writes a call of several words', 'assistant', 'partial'],
    ['a prompt that shows how to write one', 'user', 'full'],
  ] as const)('%s', async (_, role, level) => {
    const messages = [
      { role: role === 'user' ? 'user' : 'system', content: role === 'user' ? reAct : 'hi' },
      { role: 'assistant', content: role === 'user' ? 'Done.' : reAct, tool_calls: [] },
    ];
    const trace = await readOne({
      request: { model: 'm', messages: messages.slice(0, 1) },
      response: chatReply(messages[1]!),
    });
    expect(trace.captured.toolCalls).toBe(level);
  });

  test('a sub-agent of Claude Code of which nothing is recorded', async () => {
    const line = (uuid: string, parentUuid: string | null, type: string, content: unknown) => ({
      parentUuid,
      sessionId: 's',
      uuid,
      type,
      timestamp: '2026-05-04T08:00:00Z',
      message: {
        role: type,
        content,
        ...(type === 'assistant' ? { id: uuid, stop_reason: 'end_turn' } : {}),
      },
    });
    const trace = await readOne([
      line('a', null, 'user', 'Look around.'),
      line('b', 'a', 'assistant', [
        { type: 'tool_use', id: 't', name: 'Task', input: { prompt: 'Look.' } },
      ]),
      line('c', 'b', 'user', [{ type: 'tool_result', tool_use_id: 't', content: 'Seen.' }]),
      line('d', 'c', 'assistant', [{ type: 'text', text: 'All seen.' }]),
    ]);
    expect(trace).toMatchObject({
      captured: { toolCalls: 'partial' },
      warnings: [{ code: 'CALLS_HINTED' }],
    });
  });

  test('names the tool in its warning', async () => {
    const { warnings } = await readOne(chat({ executed_tools: [{ name: 'delete_all' }] }));
    expect(warnings).toMatchObject([
      { code: 'CALLS_HINTED', message: expect.stringContaining('"delete_all"') },
    ]);
  });
});
