import type { Trace } from '@agentci/trace';
import { toolCalls } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { readTraces } from '../reader/read-traces.ts';

/** Every trace in a recording that is written here. */
async function tracesIn(recording: unknown): Promise<Trace[]> {
  const text = typeof recording === 'string' ? recording : JSON.stringify(recording);
  const traces: Trace[] = [];
  for await (const trace of readTraces(Buffer.from(text))) traces.push(trace);
  return traces;
}

const callsIn = (traces: readonly Trace[]): string[] =>
  traces.flatMap((trace) =>
    toolCalls(trace).map(({ name, args }) => `${name} ${JSON.stringify(args)}`),
  );

const QUESTION = { role: 'user', content: 'q' };
const asks = (...calls: readonly (readonly [id: string, name: string, args?: string])[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.map(([id, name, args = '{}']) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  })),
});
const answered = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });
const DONE = { role: 'assistant', content: 'done' };

const span = (
  id: string,
  attributes: Readonly<Record<string, string>>,
  place: { parent?: string; at?: number } = {},
) => ({
  traceId: 'a'.repeat(32),
  spanId: id.padStart(16, '0'),
  name: 'span',
  ...(place.parent === undefined ? {} : { parentSpanId: place.parent.padStart(16, '0') }),
  startTimeUnixNano: `170000000000${place.at ?? 1}000000`,
  endTimeUnixNano: `170000000000${(place.at ?? 1) + 1}000000`,
  attributes: Object.entries(attributes).map(([key, stringValue]) => ({
    key,
    value: { stringValue },
  })),
});
const otlp = (...spans: readonly unknown[]) => ({
  resourceSpans: [{ scopeSpans: [{ scope: {}, spans }] }],
});
const toolSpan = (name: string, args: string, callId?: string) => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': name,
  'gen_ai.tool.call.arguments': args,
  ...(callId === undefined ? {} : { 'gen_ai.tool.call.id': callId }),
});

describe('ids that are given out twice', () => {
  test.each([
    {
      when: 'two calls of one message share an id',
      recording: { messages: [QUESTION, asks(['c', 'lookup'], ['c', 'delete_all']), DONE] },
      calls: ['lookup {}', 'delete_all {}'],
    },
    {
      when: 'a later reply uses the id for another tool',
      recording: {
        messages: [
          QUESTION,
          asks(['c', 'lookup']),
          answered('c', '1'),
          asks(['c', 'delete_all']),
          answered('c', '2'),
          DONE,
        ],
      },
      calls: ['lookup {}', 'delete_all {}'],
    },
    {
      when: 'a later reply uses the id for other arguments',
      recording: {
        messages: [
          QUESTION,
          asks(['c', 'pay', '{"n":1}']),
          answered('c', '1'),
          asks(['c', 'pay', '{"n":9}']),
          DONE,
        ],
      },
      calls: ['pay {"n":1}', 'pay {"n":9}'],
    },
    {
      when: 'a later reply asks for the very same',
      recording: {
        messages: [QUESTION, asks(['c', 'pay']), answered('c', '1'), asks(['c', 'pay']), DONE],
      },
      calls: ['pay {}', 'pay {}'],
    },
    {
      when: 'two spans of one tool share an id',
      recording: otlp(
        span('1', toolSpan('pay', '{"n":1}', 'c')),
        span('2', toolSpan('pay', '{"n":9}', 'c'), { at: 4 }),
      ),
      calls: ['pay {"n":1}', 'pay {"n":9}'],
    },
    {
      when: 'a tool calls itself with other arguments',
      recording: otlp(
        span('1', toolSpan('pay', '{"n":1}')),
        span('2', toolSpan('pay', '{"n":9}'), { parent: '1' }),
      ),
      calls: ['pay {"n":1}', 'pay {"n":9}'],
    },
  ])('every call counts when $when', async ({ recording, calls }) => {
    expect(callsIn(await tracesIn(recording))).toEqual(calls);
  });

  test('results go to the calls in their order', async () => {
    const [trace] = await tracesIn({
      messages: [
        QUESTION,
        asks(['c', 'lookup']),
        answered('c', 'first'),
        asks(['c', 'lookup']),
        answered('c', 'second'),
        DONE,
      ],
    });
    expect(toolCalls(trace!).map(({ result }) => result)).toEqual(['first', 'second']);
  });

  test('a tool inside another under one id leaves its name to the rules', async () => {
    const [trace] = await tracesIn(
      otlp(
        span('1', toolSpan('run', '{}', 'c')),
        span('2', toolSpan('delete_all', '{}', 'c'), { parent: '1' }),
      ),
    );
    expect(toolCalls(trace!).map(({ name, rawName }) => [name, rawName])).toEqual([
      ['run', 'delete_all'],
    ]);
  });

  test('ten thousand calls of one id are read in no time', async () => {
    const calls = Array.from({ length: 10_000 }, (_, i) => ['c', 'pay', `{"n":${i}}`] as const);
    const start = performance.now();
    const traces = await tracesIn({ messages: [QUESTION, asks(...calls), DONE] });
    expect(callsIn(traces)).toHaveLength(10_000);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

test('a call without a name is a call of a tool nobody can tell', async () => {
  const nameless = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', function: { arguments: '{}' } }],
  };
  const [trace] = await tracesIn({ messages: [QUESTION, asks(['a', 'lookup']), nameless, DONE] });
  expect(toolCalls(trace!).map(({ name }) => name)).toEqual(['lookup', 'unknown']);
  expect(trace!.captured.toolCalls).toBe('partial');
});

const sse = (...events: readonly unknown[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const chunk = (delta: unknown, place: { id?: string; index?: number; finish?: string } = {}) => ({
  id: place.id ?? 'r1',
  object: 'chat.completion.chunk',
  choices: [{ index: place.index ?? 0, delta, finish_reason: place.finish ?? null }],
});
const piece = (id: string | undefined, index: number | undefined, name: string, args = '{}') => ({
  tool_calls: [{ id, index, function: { name, arguments: args } }],
});
const END = chunk({}, { finish: 'tool_calls' });
const anthropic = (id: string, name: string) => [
  {
    type: 'message_start',
    message: { id, type: 'message', role: 'assistant', content: [], model: 'm' },
  },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'tool_use', id: `t${id}`, name, input: {} },
  },
  {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json: '{}' },
  },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];
const responses = (id: string, name: string) => {
  const output = [{ type: 'function_call', call_id: `k${id}`, name, arguments: '{}' }];
  return [
    { type: 'response.created', response: { id, object: 'response', output: [] } },
    {
      type: 'response.completed',
      response: { id, object: 'response', status: 'completed', output },
    },
  ];
};
const gemini = (part: unknown, finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts: [part] }, finishReason }],
  usageMetadata: { promptTokenCount: 5 },
});

describe('streams', () => {
  test.each([
    {
      when: 'one file holds two chat replies',
      recording: sse(
        chunk(piece('a', 0, 'lookup')),
        END,
        chunk(piece('b', 0, 'delete_all'), { id: 'r2' }),
      ),
      calls: ['lookup {}', 'delete_all {}'],
    },
    {
      when: 'every call has the index 0',
      recording: sse(chunk(piece('a', 0, 'lookup')), chunk(piece('b', 0, 'delete_all')), END),
      calls: ['lookup {}', 'delete_all {}'],
    },
    {
      when: 'no call has an index',
      recording: sse(
        chunk(piece('a', undefined, 'lookup')),
        chunk(piece('b', undefined, 'delete_all')),
        END,
      ),
      calls: ['lookup {}', 'delete_all {}'],
    },
    {
      when: 'every delta repeats the name',
      recording: sse(
        chunk(piece('a', 0, 'delete_all', '{')),
        chunk(piece('a', 0, 'delete_all', '}')),
        END,
      ),
      calls: ['delete_all {}'],
    },
    {
      when: 'a name comes in pieces',
      recording: sse(chunk(piece('a', 0, 'delete', '')), chunk(piece(undefined, 0, '_all')), END),
      calls: ['delete_all {}'],
    },
    {
      when: 'a function is called the old way',
      recording: sse(chunk({ function_call: { name: 'delete_all', arguments: '{}' } }), END),
      calls: ['delete_all {}'],
    },
    {
      when: 'one file holds two messages of Anthropic',
      recording: sse(...anthropic('a', 'delete_all'), ...anthropic('b', 'lookup')),
      calls: ['delete_all {}', 'lookup {}'],
    },
    {
      when: 'one file holds two responses',
      recording: sse(...responses('a', 'delete_all'), ...responses('b', 'lookup')),
      calls: ['delete_all {}', 'lookup {}'],
    },
  ])('every call counts when $when', async ({ recording, calls }) => {
    expect(callsIn(await tracesIn(recording))).toEqual(calls);
  });

  test.each([
    { when: 'a chat stream ends early', recording: sse(chunk({ content: 'I will' })) },
    {
      when: 'a stream of Anthropic ends early',
      recording: sse(...anthropic('a', 'lookup').slice(0, 2)),
    },
    {
      when: 'a stream of Gemini ends early',
      recording: sse(gemini({ text: 'I ' }), gemini({ text: 'will' })),
    },
    {
      when: 'an event of a recorded reply is damaged',
      recording: {
        uri: '/v1/chat/completions',
        request: { messages: [QUESTION] },
        response: `${sse(chunk({ content: 'ok' }, { finish: 'stop' }))}data: {"id":"r1","choices":[{"del\n\n`,
      },
    },
  ])('the run is incomplete and its calls partly known when $when', async ({ recording }) => {
    expect(await tracesIn(recording)).toMatchObject([
      {
        status: 'incomplete',
        captured: { toolCalls: 'partial' },
        warnings: [{ code: 'REPLY_NOT_WHOLE' }],
      },
    ]);
  });

  test('the pieces of a streamed Gemini reply are one answer', async () => {
    const traces = await tracesIn(sse(gemini({ text: 'Hel' }), gemini({ text: 'lo' }, 'STOP')));
    expect(traces.map(({ final }) => final?.text)).toEqual(['Hello']);
  });
});

test('a call in an alternative of a reply leaves tool calls partly known, and the answer is the first alternative', async () => {
  const choice = (index: number, message: unknown) => ({ index, message, finish_reason: 'stop' });
  const [trace] = await tracesIn({
    id: 'r',
    object: 'chat.completion',
    choices: [choice(0, { content: 'hi' }), choice(1, asks(['c', 'delete_all']))],
  });
  expect(trace).toMatchObject({ final: { text: 'hi' }, captured: { toolCalls: 'partial' } });
});

test('kinds of calls that are not known yet are calls', async () => {
  const blocks = [
    { type: 'tool_use', id: 'a', name: 'lookup', input: {} },
    { type: 'remote_tool_use', id: 'b', name: 'delete_all', input: {} },
  ];
  expect(
    callsIn(await tracesIn({ messages: [QUESTION, { role: 'assistant', content: blocks }] })),
  ).toEqual(['lookup {}', 'delete_all {}']);
  const items = [
    { type: 'function_call', call_id: 'a', name: 'lookup', arguments: '{}' },
    { type: 'browser_call', call_id: 'b', action: { type: 'open' } },
  ];
  expect(
    callsIn(await tracesIn({ id: 'r', object: 'response', status: 'completed', output: items })),
  ).toEqual(['lookup {}', 'browser {"type":"open"}']);
});

const reply = (text: string, calls: readonly string[] = []) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'm',
  'gen_ai.input.messages': JSON.stringify([
    { role: 'user', parts: [{ type: 'text', content: 'q' }] },
  ]),
  'gen_ai.output.messages': JSON.stringify([
    {
      role: 'assistant',
      parts: [
        { type: 'text', content: text },
        ...calls.map((name) => ({ type: 'tool_call', id: `c-${name}`, name })),
      ],
    },
  ]),
});

describe('spans', () => {
  test.each(['call_tool', 'Execute_Tool', 'tool'])(
    'a span that names a tool is a call under any operation: %s',
    async (operation) => {
      const odd = { ...toolSpan('delete_all', '{}'), 'gen_ai.operation.name': operation };
      expect(callsIn(await tracesIn(otlp(span('1', reply('fine')), span('2', odd))))).toEqual([
        'delete_all {}',
      ]);
    },
  );

  test('messages that were cut off at a limit were not recorded, neither calls nor answer', async () => {
    const cut = reply('x'.repeat(50), ['delete_all']);
    const output = cut['gen_ai.output.messages'].slice(0, 80);
    const [trace] = await tracesIn(otlp(span('1', { ...cut, 'gen_ai.output.messages': output })));
    expect(trace!.captured).toMatchObject({ toolCalls: 'none', final: 'none' });
  });

  test('attributes an SDK dropped leave tool calls partly known', async () => {
    const [trace] = await tracesIn(
      otlp({ ...span('1', reply('fine')), droppedAttributesCount: 4 }),
    );
    expect(trace).toMatchObject({
      captured: { toolCalls: 'partial' },
      warnings: [{ code: 'OTEL_DROPPED_ATTRIBUTES' }],
    });
  });

  test.each(['[REDACTED]', '<redacted>', '__REDACTED__', '***', '[REDACTED by policy]'])(
    '%s is not a reply',
    async (marker) => {
      const [trace] = await tracesIn(
        otlp(span('1', { ...reply(''), 'gen_ai.output.messages': marker })),
      );
      expect(trace!.captured).toMatchObject({ toolCalls: 'none', final: 'none' });
    },
  );

  test.each(['The name was [REDACTED] in the file.', 'filtered', '**done**'])(
    '%s is an answer',
    async (text) => {
      const [trace] = await tracesIn(otlp(span('1', reply(text))));
      expect(trace!.final?.text).toBe(text);
    },
  );

  test('two traces whose replies restart their call ids stay two runs', async () => {
    const other = { ...span('2', reply('', ['lookup'])), traceId: 'b'.repeat(32) };
    expect(await tracesIn(otlp(span('1', reply('', ['lookup'])), other))).toHaveLength(2);
  });

  test('a span exported twice happened once', async () => {
    const pay = span('2', toolSpan('pay', '{}'));
    const [trace] = await tracesIn(otlp(span('1', reply('fine')), pay, pay));
    expect(callsIn([trace!])).toEqual(['pay {}']);
  });
});

test('a conversation continues its own run, not another one with the same text', async () => {
  const exchange = (messages: readonly unknown[], content: string) => ({
    uri: '/v1/chat/completions',
    request: { messages },
    response: {
      object: 'chat.completion',
      choices: [{ message: { content }, finish_reason: 'stop' }],
    },
  });
  const user = (content: string) => ({ role: 'user', content });
  const said = { role: 'assistant', content: 'Done.' };
  const records = [
    exchange([user('first')], 'Done.'),
    exchange([user('second')], 'Done.'),
    exchange([user('first'), said, user('and now?')], 'Bye.'),
  ];
  const traces = await tracesIn(records.map((record) => JSON.stringify(record)).join('\n'));
  expect(traces.map(({ final }) => final?.text)).toEqual(['Bye.', 'Done.']);
});
