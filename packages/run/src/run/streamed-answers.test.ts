import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { tempDir } from '@agentci/testing/temp-dir';
import { finalText, llmCalls, toolCalls, totals } from '@agentci/trace';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpRunner } from '../runners/http.ts';
import { createModuleRunner } from '../runners/module.ts';
import { interpretOutput } from './interpret-output.ts';

const asked = { query: 'hi', id: 'q1', run: 1, signal: new AbortController().signal };

interface Reply {
  readonly type?: string;
  readonly headers?: Record<string, string>;
  readonly body: readonly string[];
  readonly http?: { readonly answer?: string; readonly trace?: string };
  /** The connection is lost after the body. */
  readonly isCut?: boolean;
}

async function ask({
  type = 'text/event-stream',
  headers = {},
  body,
  http = {},
  isCut = false,
}: Reply) {
  const server = createServer(async (_, response) => {
    response.writeHead(200, { 'content-type': type, ...headers });
    for (const chunk of body) {
      response.write(chunk);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    if (isCut) response.destroy();
    else response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const runner = createHttpRunner(
    { kind: 'http', http: { url, method: 'POST', headers: {}, ...http } },
    { dir: '.', env: {}, timeoutMs: 1000, workers: 1 },
  );
  return interpretOutput(await runner.run(asked), asked);
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const DONE = 'data: [DONE]\n\n';
const chunk = (delta: object, finish: string | null = null, rest: object = {}) =>
  event({
    id: 'c1',
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...rest,
  });

const chat = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Par' }),
  chunk({ content: 'is' }),
  chunk({}, 'stop'),
  event({
    id: 'c1',
    object: 'chat.completion.chunk',
    choices: [],
    usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
  }),
  DONE,
];
const responses = [
  event({
    type: 'response.created',
    response: { id: 'r1', object: 'response', status: 'in_progress', output: [] },
  }),
  event({ type: 'response.output_text.delta', delta: 'Paris' }),
  event({
    type: 'response.completed',
    response: {
      id: 'r1',
      object: 'response',
      status: 'completed',
      model: 'm',
      output: [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Paris' }] },
      ],
      usage: { input_tokens: 7, output_tokens: 2, total_tokens: 9 },
    },
  }),
];
const named = (value: { type: string }): string => `event: ${value.type}\n${event(value)}`;
const anthropic = [
  named({
    type: 'message_start',
    message: {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      usage: { input_tokens: 7, output_tokens: 1 },
    },
  } as never),
  named({ type: 'ping' }),
  named({
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: '' },
  } as never),
  named({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: 'Paris' },
  } as never),
  named({ type: 'content_block_stop', index: 0 } as never),
  named({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage: { output_tokens: 2 },
  } as never),
  named({ type: 'message_stop' }),
];
const ui = [
  event({ type: 'start', messageId: 'm' }),
  event({ type: 'start-step' }),
  event({ type: 'tool-input-start', toolCallId: 't1', toolName: 'lookup' }),
  event({ type: 'tool-input-delta', toolCallId: 't1', inputTextDelta: '{"q":1}' }),
  event({ type: 'tool-input-available', toolCallId: 't1', toolName: 'lookup', input: { q: 1 } }),
  event({ type: 'tool-output-available', toolCallId: 't1', output: { city: 'Paris' } }),
  event({ type: 'finish-step' }),
  event({ type: 'start-step' }),
  event({ type: 'text-start', id: '1' }),
  event({ type: 'text-delta', id: '1', delta: 'Par' }),
  event({ type: 'text-delta', id: '1', delta: 'is' }),
  event({ type: 'text-end', id: '1' }),
  event({ type: 'finish-step' }),
  event({ type: 'finish', finishReason: 'stop' }),
  DONE,
];
const dataStream = [
  'f:{"messageId":"m"}\n',
  '9:{"toolCallId":"t1","toolName":"lookup","args":{"q":1}}\n',
  'a:{"toolCallId":"t1","result":{"city":"Paris"}}\n',
  'e:{"finishReason":"tool-calls","usage":{"promptTokens":3,"completionTokens":1},"isContinued":false}\n',
  '0:"Par"\n0:"is"\n',
  'e:{"finishReason":"stop","usage":{"promptTokens":4,"completionTokens":1},"isContinued":false}\n',
  'd:{"finishReason":"stop","usage":{"promptTokens":7,"completionTokens":2}}\n',
];
const gemini = [
  event({
    candidates: [{ content: { role: 'model', parts: [{ text: 'Par' }] } }],
    modelVersion: 'm',
    responseId: 'g',
  }),
  event({
    candidates: [{ content: { role: 'model', parts: [{ text: 'is' }] }, finishReason: 'STOP' }],
    modelVersion: 'm',
    responseId: 'g',
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 2, totalTokenCount: 9 },
  }),
];

const piece = (content: string, rest: object = { done: false }): string =>
  `${JSON.stringify({ model: 'm', created_at: '2026-01-01T00:00:00Z', message: { role: 'assistant', content }, ...rest })}\n`;
const ollama = [
  piece('Par'),
  piece('is'),
  piece('', { done: true, done_reason: 'stop', prompt_eval_count: 7, eval_count: 2 }),
];

test.each([
  { what: 'OpenAI chat', body: chat, tokens: 9, finish: 'stop' },
  { what: 'OpenAI chat without usage', body: [...chat.slice(0, 4), DONE], finish: 'stop' },
  { what: 'OpenAI Responses', body: responses, tokens: 9, finish: 'stop' },
  { what: 'Anthropic', body: anthropic, tokens: 9, finish: 'stop' },
  { what: 'Gemini', body: gemini, tokens: 9, finish: 'stop' },
  { what: 'the AI SDK for an interface', body: ui, tools: ['lookup'], finish: 'stop' },
  {
    what: 'the AI SDK in version 4',
    body: dataStream,
    type: 'text/plain; charset=utf-8',
    headers: { 'x-vercel-ai-data-stream': 'v1' },
    tools: ['lookup'],
    finish: 'stop',
  },
  { what: 'plain text', body: ['data: Par\n\n', 'data: is\n\n', DONE] },
  {
    what: 'plain text with line ends of Windows',
    body: ['data: Par\r\n\r\n', 'data: is\r\n\r\n', 'data: [DONE]\r\n\r\n'],
  },
  { what: 'texts as JSON', body: ['data: "Par"\n\n', 'data: "is"\n\n', DONE] },
  {
    what: 'comments in between',
    body: [': ping\n\n', 'data: Par\n\n', ': ping\n\n', 'data: is\n\n', DONE],
  },
  {
    what: 'events cut anywhere into chunks',
    body: [...chat.join('')].reduce<string[]>((parts, c, i) => {
      parts[Math.floor(i / 97)] = (parts[Math.floor(i / 97)] ?? '') + c;
      return parts;
    }, []),
    tokens: 9,
    finish: 'stop',
  },
  {
    what: 'progress and then the simple form',
    body: [event({ progress: 1 }), event({ answer: 'Paris', tool_calls: [{ name: 'lookup' }] })],
    tools: ['lookup'],
  },
  {
    what: 'unknown events with a pointer',
    body: [event({ t: 'Par' }), event({ t: 'is' }), event({ done: true })],
    http: { answer: '/t' },
  },
  {
    what: 'events with the trace in the last',
    body: [event({ t: 'Par' }), event({ trace: { answer: 'Paris', tool_calls: [] } })],
    http: { trace: '/trace' },
  },
  {
    what: 'JSON lines of chat chunks',
    type: 'application/x-ndjson',
    body: chat.slice(0, 5).map((line) => `${line.slice(6).trim()}\n`),
    tokens: 9,
    finish: 'stop',
  },
  {
    what: 'OpenAI chat with words that are not JSON in between',
    body: [chat[0]!, chat[1]!, 'data: keepalive\n\n', 'event: ping\ndata: 1\n\n', ...chat.slice(2)],
    tokens: 9,
    finish: 'stop',
  },
  {
    what: 'OpenAI chat that says more after its end',
    body: [...chat, chunk({ content: ', not' }), 'data: oops\n\n'],
  },
  {
    what: 'plain text that says more after its end',
    body: ['data: Paris\n\n', DONE, 'data: , not\n\n'],
  },
  {
    what: 'OpenAI chat with a pointer into the whole reply',
    body: chat,
    http: { answer: '/choices/0/message/content' },
    tokens: 9,
    finish: 'stop',
  },
  {
    what: 'OpenAI chat with a pointer into each event',
    body: chat,
    http: { answer: '/choices/0/delta/content' },
    tokens: 9,
    finish: 'stop',
  },
  { what: 'Ollama', type: 'application/x-ndjson', body: ollama, tokens: 9, finish: 'stop' },
  {
    what: 'Ollama with a pointer',
    type: 'application/x-ndjson',
    body: ollama,
    http: { answer: '/message/content' },
    tokens: 9,
    finish: 'stop',
  },
  {
    what: 'the AI SDK in version 4 without its header',
    body: ['0:"Par"\n', '0:"is"\n', 'd:{"finishReason":"stop"}\n'],
    type: 'text/plain',
  },
  {
    what: 'JSON lines with the answer last',
    type: 'application/jsonl',
    body: ['{"step":1}\n', '{"answer":"Paris"}'],
  },
])('reads a stream of $what', async ({ tokens, finish, tools, ...reply }) => {
  const trace = await ask(reply);
  expect(finalText(trace)).toBe('Paris');
  if (tokens !== undefined) expect(totals(trace).totalTokens).toMatchObject({ value: tokens });
  if (finish !== undefined) expect(llmCalls(trace).at(-1)?.finish).toBe(finish);
  if (tools !== undefined) expect(toolCalls(trace).map(({ name }) => name)).toEqual(tools);
});

test.each([
  {
    what: 'OpenAI chat without its end',
    body: chat.slice(0, 3),
    kind: 'infra',
    message: /ended before the answer/,
  },
  {
    what: 'OpenAI Responses without its end',
    body: responses.slice(0, 2),
    kind: 'infra',
    message: /ended before/,
  },
  {
    what: 'Anthropic without its end',
    body: anthropic.slice(0, 6),
    kind: 'infra',
    message: /ended before/,
  },
  {
    what: 'Gemini without its end',
    body: gemini.slice(0, 1),
    kind: 'infra',
    message: /ended before/,
  },
  {
    what: 'the AI SDK without its end',
    body: ui.slice(0, 11),
    kind: 'infra',
    message: /ended before/,
  },
  {
    what: 'the AI SDK that was aborted',
    body: [...ui.slice(0, 11), event({ type: 'abort' })],
    kind: 'infra',
    message: /ended before/,
  },
  {
    what: 'the AI SDK in version 4 without its end',
    body: dataStream.slice(0, 5),
    headers: { 'x-vercel-ai-data-stream': 'v1' },
    type: 'text/plain',
    kind: 'infra',
    message: /ended before/,
  },
  {
    what: 'an event that breaks off',
    body: [chat[1]!, chat[2]!.slice(0, 40)],
    kind: 'infra',
    message: /event 2 .*cut off/,
  },
  {
    what: 'an event that is damaged',
    body: [chat[1]!, 'data: {"id": x}\n\n', chat[3]!, DONE],
    kind: 'agent',
    message: /event 2 .*cannot be read/,
  },
  {
    what: 'a lost connection',
    body: chat.slice(0, 3),
    isCut: true,
    kind: 'infra',
    message: /cut off/,
  },
  {
    what: 'plain text and a lost connection',
    body: ['data: Paris\n\n'],
    isCut: true,
    kind: 'infra',
    message: /cut off/,
  },
  { what: 'no events', body: [': ping\n\n'], kind: 'agent', message: /without events/ },
  { what: 'nothing but the end', body: [DONE], kind: 'agent', message: /without events/ },
  { what: 'nothing to see', body: ['data: \u200b\n\n', DONE], kind: 'agent', message: /invisible/ },
  {
    what: 'events nobody knows',
    body: [event({ foo: 1 }), DONE],
    kind: 'agent',
    message: /no known format/,
  },
  {
    what: 'an error of Anthropic',
    body: [
      anthropic[0]!,
      named({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } } as never),
    ],
    kind: 'infra',
    message: /overloaded_error: busy/,
  },
  {
    what: 'an error of OpenAI',
    body: [chat[1]!, event({ error: { message: 'bad tool', type: 'invalid_request' } })],
    kind: 'agent',
    message: /bad tool/,
  },
  {
    what: 'a failed response',
    body: [
      responses[0]!,
      event({ type: 'response.failed', response: { error: { code: 'x', message: 'no' } } }),
    ],
    kind: 'agent',
    message: /x: no/,
  },
  {
    what: 'an error of the AI SDK',
    body: [ui[0]!, event({ type: 'error', errorText: 'no key' })],
    kind: 'agent',
    message: /no key/,
  },
  {
    what: 'JSON lines that break off',
    type: 'application/x-ndjson',
    body: ['{"answer"'],
    kind: 'infra',
    message: /cut off/,
  },
  {
    what: 'Ollama without its end',
    type: 'application/x-ndjson',
    body: ollama.slice(0, 2),
    kind: 'infra',
    message: /ended before/,
  },
  {
    what: 'Ollama without its end, with a pointer',
    type: 'application/x-ndjson',
    body: ollama.slice(0, 2),
    http: { answer: '/message/content' },
    kind: 'infra',
    message: /ended before/,
  },
  {
    what: 'JSON lines that end with an error',
    type: 'application/x-ndjson',
    body: ['{"message":{"content":"hel"}}\n', '{"error":"boom"}\n'],
    http: { answer: '/message/content' },
    kind: 'agent',
    message: /boom/,
  },
  {
    what: 'nothing but an error in words',
    body: ['event: error\ndata: it failed\n\n'],
    kind: 'agent',
    message: /it failed/,
  },
  {
    what: 'an error without words',
    body: ['data: Paris\n\n', 'event: error\n\n'],
    kind: 'agent',
    message: /no reason/,
  },
  {
    what: 'text and an error in words',
    body: ['data: Paris\n\n', 'event: error\ndata: upstream died\n\n', DONE],
    kind: 'agent',
    message: /upstream died/,
  },
  {
    what: 'an error object',
    body: ['event: error\ndata: {"error":"boom"}\n\n'],
    kind: 'agent',
    message: /boom/,
  },
  {
    what: 'an error with a pointer',
    body: [event({ text: 'Paris' }), 'event: error\ndata: {"code": 5}\n\n'],
    http: { answer: '/text' },
    kind: 'agent',
    message: /error: 5/,
  },
  {
    what: 'OpenAI chat with an error in words',
    body: [...chat.slice(0, 3), 'event: error\ndata: upstream died\n\n'],
    kind: 'agent',
    message: /upstream died/,
  },
  {
    what: 'OpenAI chat with an error in a chunk',
    body: [
      ...chat.slice(0, 3),
      chunk({ content: '' }, 'error', { error: { code: 502, message: 'gone' } }),
      DONE,
    ],
    kind: 'agent',
    message: /502: gone/,
  },
  {
    what: 'plain text that ends inside an event',
    body: ['data: Par\n\n', 'data: is'],
    kind: 'infra',
    message: /inside/,
  },
  {
    what: 'plain text that ends before the blank line',
    body: ['data: Paris\n'],
    kind: 'infra',
    message: /inside/,
  },
  {
    what: 'texts and unknown objects mixed',
    body: ['data: keepalive\n\n', event({ delta: 'Paris' }), DONE],
    kind: 'agent',
    message: /mixes texts and objects/,
  },
  {
    what: 'text that is truncated JSON, selected by a pointer',
    body: [event({ text: '{"a": [1,' })],
    http: { answer: '/text' },
    kind: 'agent',
    message: /cut off/,
  },
  {
    what: 'the AI SDK in version 4 without header and end',
    body: ['0:"Par"\n', '0:"is"\n'],
    type: 'text/plain',
    kind: 'infra',
    message: /ended before/,
  },
  {
    what: 'events that are not called a stream',
    type: 'text/plain',
    body: [chat[1]!, DONE],
    kind: 'agent',
    message: /raw server-sent events/,
  },
])('a stream of $what is never an answer', async ({ kind, message, ...reply }) => {
  await expect(ask(reply)).rejects.toMatchObject({
    name: 'AgentError',
    kind,
    message: expect.stringMatching(message),
  });
});

test('the time to the first token is that of the first piece with something to see', async () => {
  const { reported } = await ask({ body: chat });
  expect(reported!.ttftMs).toBeGreaterThan(15);
  expect(reported!.ttftMs).toBeLessThan(reported!.durationMs!);
});

const AI = fileURLToPath(import.meta.resolve('ai'));
const AI_TEST = fileURLToPath(import.meta.resolve('ai/test'));

const aiModel = `
const usage = { inputTokens: { total: 7, noCache: 7 }, outputTokens: { total: 2, text: 2 } };
const finish = (unified) => ({ unified, raw: unified });
const turn = (n) => n === 0
  ? [{ type: 'tool-call', toolCallId: 't1', toolName: 'lookup', input: '{"q":1}' }]
  : [{ type: 'text', text: 'Paris' }];
let asked = 0;
const tools = { lookup: tool({ inputSchema: jsonSchema({ type: 'object' }), execute: async () => ({ city: 'Paris' }) }) };
const model = new MockLanguageModelV3({
  doGenerate: async () => { const n = asked++; return { content: turn(n), finishReason: finish(n === 0 ? 'tool-calls' : 'stop'), usage, warnings: [] } },
  doStream: async () => { const n = asked++; return { stream: simulateReadableStream({ chunks: [
    { type: 'stream-start', warnings: [] },
    ...(n === 0 ? turn(0) : [{ type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: 'Par' }, { type: 'text-delta', id: '1', delta: 'is' }, { type: 'text-end', id: '1' }]),
    { type: 'finish', finishReason: finish(n === 0 ? 'tool-calls' : 'stop'), usage },
  ] }) } },
});
const options = { model, tools, prompt: 'hi', stopWhen: stepCountIs(5) };
`;
const ai = (body: string): string =>
  `import { generateText, jsonSchema, stepCountIs, streamText, tool, simulateReadableStream } from ${JSON.stringify(AI)};
import { MockLanguageModelV3 } from ${JSON.stringify(AI_TEST)};
${aiModel}
export default async () => ${body}`;

async function call(code: string) {
  const runner = createModuleRunner(
    { kind: 'module', module: 'agent.mjs', export: 'default' },
    { dir: tempDir({ 'agent.mjs': code }), env: {}, timeoutMs: 5000, workers: 1 },
  );
  onTestFinished(() => runner.close());
  return interpretOutput(await runner.run(asked), asked);
}

test.each([
  {
    what: 'an async generator of texts',
    code: 'export default async function* () { yield "Par"; yield "is"; }',
  },
  {
    what: 'a generator that returns its result',
    code: 'export default async function* () { yield "thinking"; return { answer: "Paris", tool_calls: [{ name: "lookup" }] }; }',
    tools: ['lookup'],
  },
  {
    what: 'a generator that returns what else is known',
    code: 'export default async function* () { yield "Par"; yield "is"; return { tool_calls: [{ name: "lookup" }] }; }',
    tools: ['lookup'],
  },
  {
    what: 'a generator that only returns',
    code: 'export default async function* () { return "Paris"; }',
  },
  { what: 'a generator', code: 'export default function* () { yield "Par"; yield "is"; }' },
  {
    what: 'an iterable of texts in a promise',
    code: 'async function* g() { yield "Paris" } export default async () => g()',
  },
  {
    what: 'a ReadableStream of text',
    code: 'export default () => new ReadableStream({ start(c) { c.enqueue("Par"); c.enqueue("is"); c.close() } })',
  },
  {
    what: 'a ReadableStream of bytes',
    code: 'export default () => new ReadableStream({ start(c) { for (const b of new TextEncoder().encode("Paris")) c.enqueue(new Uint8Array([b])); c.close() } })',
  },
  {
    what: 'bytes that split a character',
    code: 'export default () => new ReadableStream({ start(c) { for (const b of new TextEncoder().encode("Zürich")) c.enqueue(new Uint8Array([b])); c.close() } })',
    answer: 'Zürich',
  },
  { what: 'a Response', code: 'export default () => new Response("Paris")' },
  {
    what: 'a Response of JSON',
    code: 'export default () => Response.json({ answer: "Paris", tool_calls: [{ name: "lookup" }] })',
    tools: ['lookup'],
  },
  {
    what: 'a Response that is a stream',
    code: `export default () => new Response(${JSON.stringify(chat.join(''))}, { headers: { "content-type": "text/event-stream" } })`,
    tokens: 9,
  },
  {
    what: 'the body of a stream',
    code: `export default () => new Response(${JSON.stringify(anthropic.join(''))}).body`,
    tokens: 9,
  },
  {
    what: 'chunks of a chat completion',
    code: `export default async function* () { yield* ${JSON.stringify(chat.slice(0, 5).map((line) => JSON.parse(line.slice(6))))} }`,
    tokens: 9,
  },
  { what: 'generateText', code: ai('generateText(options)'), tools: ['lookup'], tokens: 18 },
  {
    what: 'streamText',
    code: ai('streamText(options)'),
    tools: ['lookup'],
    tokens: 18,
    isTimed: true,
  },
  {
    what: 'the text stream of streamText',
    code: ai('streamText(options).textStream'),
    isTimed: true,
  },
  {
    what: 'the full stream of streamText',
    code: ai('streamText(options).fullStream'),
    tools: ['lookup'],
    isTimed: true,
  },
  {
    what: 'the UI message response of streamText',
    code: ai('streamText(options).toUIMessageStreamResponse()'),
    tools: ['lookup'],
    isTimed: true,
  },
  {
    what: 'the text response of streamText',
    code: ai('streamText(options).toTextStreamResponse()'),
  },
])(
  'a module may give $what',
  async ({ code, answer = 'Paris', tools, tokens, isTimed = false }) => {
    const trace = await call(code);
    expect(finalText(trace)).toBe(answer);
    if (tools !== undefined) expect(toolCalls(trace).map(({ name }) => name)).toEqual(tools);
    if (tokens !== undefined) expect(totals(trace).totalTokens).toMatchObject({ value: tokens });
    if (isTimed) expect(trace.reported!.ttftMs).toBeGreaterThan(0);
  },
);

test.each([
  {
    what: 'a generator without pieces',
    code: 'export default async function* () {}',
    message: /without pieces/,
  },
  {
    what: 'a generator of nothing to see',
    code: 'export default async function* () { yield " " }',
    message: /empty/,
  },
  {
    what: 'a generator that throws',
    code: 'export default async function* () { yield "Par"; throw new Error("lost") }',
    message: /threw lost/,
  },
  {
    what: 'a generator of numbers',
    code: 'export default async function* () { yield 1 }',
    message: /number/,
  },
  {
    what: 'a Response that failed',
    code: 'export default () => new Response("no", { status: 404 })',
    message: /HTTP 404: no/,
  },
  {
    what: 'a Response that promises',
    code: 'export default () => new Response("ok", { status: 202 })',
    message: /HTTP 202/,
  },
  {
    what: 'a Response that is a page',
    code: 'export default () => new Response("<!doctype html><html>")',
    message: /HTML/,
  },
  {
    what: 'chunks without an end',
    code: `export default async function* () { yield* ${JSON.stringify(chat.slice(0, 3).map((line) => JSON.parse(line.slice(6))))} }`,
    message: /ended before/,
  },
  {
    what: 'streamText that fails',
    code: ai(
      'streamText({ ...options, model: new MockLanguageModelV3({ doStream: async () => { throw new Error("no key") } }), maxRetries: 0, onError() {} })',
    ),
    message: /no key/,
  },
])('$what is never an answer', async ({ code, message }) => {
  await expect(call(code)).rejects.toMatchObject({
    name: 'AgentError',
    message: expect.stringMatching(message),
  });
});
