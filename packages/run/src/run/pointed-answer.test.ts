import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { finalText, toolCalls, totals } from '@agentci/trace';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpRunner } from '../runners/http.ts';
import { interpretOutput } from './interpret-output.ts';
import { truncationOf } from './truncated-answer.ts';

const asked = { query: 'hi', id: 'q1', run: 1, signal: new AbortController().signal };

async function ask(answer: string, body: unknown) {
  const server = createServer((_, response) => response.end(JSON.stringify(body)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const runner = createHttpRunner(
    { kind: 'http', http: { url, method: 'POST', headers: {}, answer } },
    { dir: '.', env: {}, timeoutMs: 1000, workers: 1 },
  );
  return interpretOutput(await runner.run(asked), asked);
}

const chat = (finish_reason: string, message: object = {}) => ({
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [
    { index: 0, finish_reason, message: { role: 'assistant', content: 'hello', ...message } },
  ],
  usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
});

test.each([
  {
    what: 'a chat completion',
    answer: '/choices/0/message/content',
    body: chat('length'),
    finish: 'length',
  },
  {
    what: 'a filtered one',
    answer: '/choices/0/message/content',
    body: chat('content_filter'),
    finish: 'content_filter',
  },
  {
    what: 'a message of Anthropic',
    answer: '/content/0/text',
    body: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'max_tokens',
      usage: { input_tokens: 7, output_tokens: 2 },
    },
    finish: 'length',
  },
  {
    what: 'a reply of Gemini',
    answer: '/candidates/0/content/parts/0/text',
    body: {
      candidates: [
        { content: { role: 'model', parts: [{ text: 'hello' }] }, finishReason: 'MAX_TOKENS' },
      ],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 2, totalTokenCount: 9 },
    },
    finish: 'length',
  },
  {
    what: 'the simple form',
    answer: '/answer',
    body: { answer: 'hello', finish_reason: 'length' },
    finish: 'length',
  },
  {
    what: 'an unknown format',
    answer: '/out/text',
    body: { out: { text: 'hello', stopReason: 'MAX_TOKENS' } },
    finish: 'length',
  },
  {
    what: 'a form that says it above',
    answer: '/out/0',
    body: { stop_reason: 'max_tokens', out: ['hello'] },
    finish: 'length',
  },
])(
  'an answer in $what that the model did not finish is marked as truncated',
  async ({ answer, body, finish }) => {
    const trace = await ask(answer, body);
    expect(finalText(trace)).toBe('hello');
    expect(truncationOf(trace)).toMatchObject({ id: 'answer.truncated', value: finish });
  },
);

test('tool calls and tokens are read from a reply that is known, and words from where the spec says', async () => {
  const tool_calls = [
    { id: 't', type: 'function', function: { name: 'lookup', arguments: '{"q":1}' } },
  ];
  const trace = await ask('/choices/0/message/content', chat('tool_calls', { tool_calls }));
  expect(toolCalls(trace).map(({ name }) => name)).toEqual(['lookup']);
  expect(totals(trace).totalTokens).toMatchObject({ value: 9 });
  expect(finalText(trace)).toBe('hello');
});

test('a body in an unknown format is not a recording, and its keys are not reported', async () => {
  const trace = await ask('/reply', { reply: 'hello', session: 'x', model: 5, status: 'fine' });
  expect(trace).toMatchObject({
    final: { text: 'hello' },
    warnings: [],
    captured: { toolCalls: 'none' },
  });
});

test.each(['answer', 'output', 'text', 'message', 'trace', 'messages', 'result'])(
  'a body that has only a text at %s tells the same as any other',
  async (key) => {
    const { reported: _, ...trace } = await ask(`/${key}`, { [key]: 'hello' });
    const { reported: __, ...other } = await ask('/reply', { reply: 'hello', session: 'x' });
    expect(trace).toEqual(other);
  },
);

test.each([
  { what: 'cut JSON', value: '{"a": [1,', why: /cut off/ },
  {
    what: 'server-sent events',
    value: 'data: {"x":1}\n\ndata: [DONE]\n\n',
    why: /server-sent events/,
  },
  { what: 'a page', value: '<!DOCTYPE html><html><body>hello</body></html>', why: /HTML page/ },
  { what: 'the word null', value: 'null', why: /gave null/ },
  { what: 'an empty object as text', value: '{}', why: /empty object/ },
  { what: 'an empty object', value: {}, why: /empty object/ },
  { what: 'an error', value: { error: 'no' }, why: /an error instead/ },
  { what: 'an error as text', value: '{"error": "no"}', why: /an error instead/ },
  { what: 'nothing to see', value: '\u200b', why: /invisible/ },
])('$what is not an answer if a pointer selects either', async ({ value, why }) => {
  await expect(ask('/text', { text: value })).rejects.toMatchObject({
    name: 'AgentError',
    message: expect.stringMatching(why),
  });
});
