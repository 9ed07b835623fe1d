import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpRunner, resolvePointer } from './http.ts';
import type { RunRequest } from './runner.ts';

const request: RunRequest = {
  query: 'Say "hi"',
  id: 'q1',
  run: 2,
  metadata: { user: 7 },
  signal: new AbortController().signal,
};

async function serve(
  handler: (request: IncomingMessage & { body: string }, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    handler(Object.assign(incoming, { body }), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/ask`;
}

const runner = (url: string, http: object = {}, env: Record<string, string> = {}) =>
  createHttpRunner(
    { kind: 'http', http: { url, method: 'POST', headers: {}, ...http } },
    { dir: '.', env, timeoutMs: 1000, workers: 1 },
  );

test('sends query, id, run and metadata when no body is given', async () => {
  const url = await serve((incoming, response) => response.end(incoming.body));
  const { value } = await runner(url).run(request);
  expect(JSON.parse(String(value))).toEqual({ query: 'Say "hi"', id: 'q1', run: 2, metadata: { user: 7 } });
});

test('fills the body template without letting the query break out of its string', async () => {
  const url = await serve((incoming, response) => response.end(incoming.body));
  const body = {
    messages: [{ role: 'user', content: '{{query}}' }],
    note: 'run {{run}} of {{id}}',
    meta: '{{metadata}}',
  };
  const { value } = await runner(url, { body }).run(request);
  expect(JSON.parse(String(value))).toEqual({
    messages: [{ role: 'user', content: 'Say "hi"' }],
    note: 'run 2 of q1',
    meta: { user: 7 },
  });
});

test('takes the answer at a JSON pointer', async () => {
  const url = await serve((_, response) => response.end(JSON.stringify({ choices: [{ text: 'hello' }] })));
  expect(await runner(url, { answer: '/choices/0/text' }).run(request)).toMatchObject({ value: { answer: 'hello' } });
});

test('puts environment variables into headers', async () => {
  const url = await serve((incoming, response) => response.end(String(incoming.headers.authorization)));
  const { value } = await runner(
    url,
    { headers: { authorization: 'Bearer ${AGENT_KEY}' } },
    { AGENT_KEY: 's3cret' },
  ).run(request);
  expect(value).toBe('Bearer s3cret');
});

test('a missing environment variable is named before anything is sent', () => {
  expect(() => runner('http://127.0.0.1:1', { headers: { authorization: '${NOT_SET}' } })).toThrowError(
    expect.objectContaining({ code: 'RUNNER_ENV_MISSING', message: expect.stringContaining('NOT_SET') }),
  );
});

test.each([
  { status: 429, kind: 'infra' },
  { status: 503, kind: 'infra' },
  { status: 400, kind: 'agent' },
  { status: 401, kind: 'agent' },
])('HTTP $status is an $kind error', async ({ status, kind }) => {
  const url = await serve((_, response) => response.writeHead(status, { 'retry-after': '3' }).end('no'));
  await expect(runner(url).run(request)).rejects.toMatchObject({ name: 'AgentError', kind, retryAfterMs: 3000 });
});

test('a refused connection is an infrastructure error', async () => {
  await expect(runner('http://127.0.0.1:1/').run(request)).rejects.toMatchObject({ name: 'AgentError', kind: 'infra' });
});

test('a response without the pointed-at value says what it has instead', async () => {
  const url = await serve((_, response) => response.end('{"reply": "x", "usage": {}}'));
  await expect(runner(url, { answer: '/text' }).run(request)).rejects.toMatchObject({
    kind: 'agent',
    message: expect.stringContaining('reply, usage'),
  });
});

test.each([
  { pointer: '', value: { 'a/b': [1], '~': 2 } },
  { pointer: '/a~1b/0', value: 1 },
  { pointer: '/~0', value: 2 },
  { pointer: '/constructor', value: undefined },
  { pointer: '/a~1b/9', value: undefined },
])('the pointer "$pointer" is resolved as RFC 6901 says', ({ pointer, value }) => {
  expect(resolvePointer({ 'a/b': [1], '~': 2 }, pointer)).toEqual(value);
});
