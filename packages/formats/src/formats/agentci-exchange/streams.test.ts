import { readOne } from '@agentci/testing/read-all';
import { toolCalls, totals } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import type { ExchangeRecord } from './exchange-record.ts';

const sse = (...events: object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

function exchange(rest: Partial<ExchangeRecord> & { readonly body: string }): ExchangeRecord {
  const { body, ...over } = rest;
  return {
    schema: 'agentci.exchange/1',
    run: 'r',
    i: 1,
    at: 1_767_603_600_000,
    provider: 'openai',
    route: 'chat',
    method: 'POST',
    uri: 'https://api.openai.com/v1/chat/completions',
    request: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
    response: { status: 200, headers: {}, chunks: [[5, body]] },
    end_ms: 500,
    complete: true,
    ...over,
  };
}

const response = (status: string, output: object[]) => ({
  id: 'resp_1',
  object: 'response',
  status,
  model: 'm',
  output,
  usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 },
});
const message = {
  type: 'message',
  id: 'msg',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'hi' }],
};
const refund = { type: 'function_call', id: 'fc', call_id: 'c', name: 'refund', arguments: '{}' };
const responses = (end: string, output: object[], done: object[]) =>
  exchange({
    route: 'responses',
    uri: 'https://api.openai.com/v1/responses',
    body: sse(
      { type: 'response.created', response: response('in_progress', []) },
      ...done.map((item, output_index) => ({
        type: 'response.output_item.done',
        output_index,
        item,
      })),
      { type: `response.${end}`, response: response(end, output) },
    ),
  });

const part = (given: object, finish_reason: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: given, finish_reason }],
});
const call = (name: string | undefined, args: string) =>
  part({ tool_calls: [{ index: 0, id: null, function: { name, arguments: args } }] });
const chat = (...parts: object[]) => exchange({ body: sse(...parts, part({}, 'tool_calls')) });

const gemini = (method: string, body: string) =>
  exchange({
    provider: 'gemini',
    route: /^(?:stream)?generateContent$/i.test(method) ? 'generate' : 'other',
    uri: `https://generativelanguage.googleapis.com/v1beta/models/g:${method}`,
    request: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }),
    body,
  });
const piece = (finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
  responseId: 'r',
});

describe('calls in streamed replies', () => {
  test.each([
    [
      'a call left out of the whole response',
      responses('completed', [message], [refund]),
      ['refund'],
      'full',
    ],
    [
      'the same in a response that was cut short',
      responses('incomplete', [message], [refund]),
      ['refund'],
      'full',
    ],
    [
      'a call in both places',
      responses('completed', [refund, message], [refund, message]),
      ['refund'],
      'full',
    ],
    [
      'two calls at one index without ids',
      chat(call('look', '{"a":1}'), call('refund', '{"b":1}')),
      ['look', 'refund'],
      'full',
    ],
    [
      'the same name twice with whole arguments',
      chat(call('look', '{}'), call('look', '{}')),
      ['look', 'look'],
      'full',
    ],
    [
      'a name that every delta repeats',
      chat(call('look', ''), call('look', '{"a"'), call('look', ':1}')),
      ['look'],
      'full',
    ],
    [
      'a name in pieces',
      chat(call('lo', ''), call('ok', ''), call(undefined, '{}')),
      ['look'],
      'full',
    ],
    [
      'a stream of Gemini without an end',
      gemini('streamGenerateContent', sse(piece())),
      [],
      'partial',
    ],
    [
      'a stream of Gemini with an end',
      gemini('streamGenerateContent', sse(piece('STOP'))),
      [],
      'full',
    ],
    [
      'a prompt that Gemini refused',
      gemini(
        'streamGenerateContent',
        sse({ promptFeedback: { blockReason: 'SAFETY' }, responseId: 'r' }),
      ),
      [],
      'none',
    ],
  ])('%s', async (_, recording, names, calls) => {
    const trace = await readOne([recording]);
    expect(toolCalls(trace).map(({ name }) => name)).toEqual(names);
    expect(trace.captured.toolCalls).toBe(calls);
  });
});

describe('methods of Gemini’s models', () => {
  test.each([
    ['batchGenerateContent', 'partial'],
    ['asyncBatchGenerateContent', 'partial'],
    ['predict', 'partial'],
    ['predictLongRunning', 'partial'],
    ['generateAnswer', 'partial'],
    ['newMethod', 'partial'],
    ['countTokens', 'full'],
    ['computeTokens', 'full'],
    ['asyncBatchEmbedContent', 'full'],
  ])('%s leaves the calls %s', async (method, calls) => {
    const whole = gemini('generateContent', JSON.stringify(piece('STOP')));
    const trace = await readOne([whole, { ...gemini(method, '{}'), i: 2 }]);
    expect(trace.captured.toolCalls).toBe(calls);
    expect(trace.warnings.some(({ code }) => code === 'REQUESTS_UNREAD')).toBe(calls === 'partial');
  });
});

describe('tokens of a stream of Anthropic', () => {
  const start = {
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'c',
      content: [],
      usage: { input_tokens: 10, output_tokens: 1 },
    },
  };
  const said = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
  ];
  const end = {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage: { output_tokens: 5 },
  };
  test.each([
    [
      'are known at its end',
      [start, ...said, end, { type: 'message_stop' }],
      { exact: true, value: 15 },
    ],
    ['are not all known without one', [start, ...said], { exact: false, atLeast: 10 }],
    [
      'are not all known after an error',
      [start, ...said, { type: 'error', error: { type: 'overloaded_error', message: 'x' } }],
      { exact: false, atLeast: 10 },
    ],
  ])('%s', async (_, events, tokens) => {
    const body = sse(...events);
    const trace = await readOne([
      exchange({
        provider: 'anthropic',
        route: 'messages',
        uri: 'https://api.anthropic.com/v1/messages',
        body,
      }),
    ]);
    expect(totals(trace).totalTokens).toMatchObject(tokens);
  });
});
