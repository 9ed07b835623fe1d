import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpRunner } from './http.ts';
import { resolvePointer } from './http-response.ts';
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
  expect(JSON.parse(String(value))).toEqual({
    query: 'Say "hi"',
    id: 'q1',
    run: 2,
    metadata: { user: 7 },
  });
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

test.each([
  {
    what: 'the address',
    http: {},
    as: (url: string) => url,
    expected: (host: string) => ({ host, connection: 'keep-alive' }),
  },
  {
    what: 'a custom host',
    http: { headers: { Host: 'agent.example' } },
    as: (url: string) => url,
    expected: () => ({ host: 'agent.example' }),
  },
  {
    what: 'a user in the address',
    http: {},
    as: (url: string) => url.replace('//', '//me:secret@'),
    expected: (host: string) => ({
      host,
      authorization: `Basic ${Buffer.from('me:secret').toString('base64')}`,
    }),
  },
])('names the host and the user as the spec does: $what', async ({ http, as, expected }) => {
  const url = await serve((incoming, response) => response.end(JSON.stringify(incoming.headers)));
  const { value } = await runner(as(url), http).run(request);
  const headers = JSON.parse(String(value)) as Record<string, string>;
  expect(headers).toMatchObject({
    ...expected(new URL(url).host),
    'content-type': 'application/json',
    'content-length': expect.stringMatching(/^\d+$/),
    'accept-encoding': 'gzip, br',
    'user-agent': 'agentci',
  });
});

test('takes the answer at a JSON pointer', async () => {
  const url = await serve((_, response) =>
    response.end(JSON.stringify({ choices: [{ text: 'hello' }] })),
  );
  expect(await runner(url, { answer: '/choices/0/text' }).run(request)).toMatchObject({
    value: { answer: 'hello' },
  });
});

test('puts environment variables into headers', async () => {
  const url = await serve((incoming, response) =>
    response.end(String(incoming.headers.authorization)),
  );
  const { value } = await runner(
    url,
    { headers: { authorization: 'Bearer ${AGENT_KEY}' } },
    { AGENT_KEY: 's3cret' },
  ).run(request);
  expect(value).toBe('Bearer s3cret');
});

test("a variable of the runner's own env goes into headers and the URL, before one of the machine", async () => {
  const url = await serve((incoming, response) =>
    response.end(`${incoming.url} ${incoming.headers['x-key']}`),
  );
  const config = {
    kind: 'http',
    http: { url: `${url}/\${PLACE}`, method: 'POST', headers: { 'x-key': '${KEY}' } },
    env: { KEY: 'own', PLACE: 'here' },
  } as const;
  const { value } = await createHttpRunner(config, {
    dir: '.',
    env: { KEY: 'of the machine' },
    timeoutMs: 1000,
    workers: 1,
  }).run(request);
  expect(value).toBe('/ask/here own');
});

test('a header that cannot be one is refused before anything is sent, and its value is not shown', () => {
  expect(() => runner('http://127.0.0.1:1', { headers: { 'x y': 's3cret' } })).toThrowError(
    expect.objectContaining({
      code: 'SPEC_VALUE',
      message:
        'runner.http.headers: "x y" is not a valid header name, or its value is not a valid header value',
    }),
  );
});

test('a GET request has no body', async () => {
  const url = await serve((incoming, response) =>
    response.end(`${incoming.method} "${incoming.body}"`),
  );
  expect(await runner(url, { method: 'GET' }).run(request)).toMatchObject({ value: 'GET ""' });
});

test('a missing environment variable is named before anything is sent', () => {
  expect(() =>
    runner('http://127.0.0.1:1', { headers: { authorization: '${NOT_SET}' } }),
  ).toThrowError(
    expect.objectContaining({
      code: 'RUNNER_ENV_MISSING',
      message: expect.stringContaining('NOT_SET'),
    }),
  );
});

test.each([
  { status: 408, kind: 'infra' },
  { status: 429, kind: 'infra' },
  { status: 500, kind: 'infra' },
  { status: 503, kind: 'infra' },
  { status: 400, kind: 'agent' },
  { status: 401, kind: 'agent' },
])('HTTP $status is an $kind error', async ({ status, kind }) => {
  const url = await serve((_, response) =>
    response.writeHead(status, { 'retry-after': '3' }).end('no'),
  );
  await expect(runner(url).run(request)).rejects.toMatchObject({
    name: 'AgentError',
    kind,
    message: `the agent answered HTTP ${status}: no`,
    retryAfterMs: 3000,
  });
});

test.each([
  {
    what: 'more than 10 MB',
    kind: 'agent',
    message: /more than 10 MB/,
    reply: (response: ServerResponse) => response.end('x'.repeat(11 * 1024 * 1024)),
  },
  {
    what: 'half an answer and hangs up',
    kind: 'infra',
    message: /cut off/,
    reply: (response: ServerResponse) => response.write('half', () => response.destroy()),
  },
  {
    what: 'nothing',
    kind: 'agent',
    message: /empty/,
    reply: (response: ServerResponse) => response.end(' \n'),
  },
  {
    what: 'words where JSON was promised',
    http: { answer: '/text' },
    kind: 'agent',
    message: /did not send JSON: hello/,
    reply: (response: ServerResponse) => response.end('hello'),
  },
  {
    what: 'null for an answer',
    http: { answer: '/text' },
    kind: 'agent',
    message: /nothing at "\/text"/,
    reply: (response: ServerResponse) => response.end('{"text": null}'),
  },
])('an agent that sends $what is an $kind error', async ({ http = {}, kind, message, reply }) => {
  const url = await serve((_, response) => void reply(response));
  await expect(runner(url, http).run(request)).rejects.toMatchObject({
    name: 'AgentError',
    kind,
    message: expect.stringMatching(message),
  });
});

test.each([
  { takes: 'the trace as it is', http: { trace: '/run' }, value: { answer: 'hi', tool_calls: [] } },
  {
    takes: 'the trace before the answer',
    http: { trace: '/run', answer: '/text' },
    value: { answer: 'hi', tool_calls: [] },
  },
  {
    takes: 'an answer that is no text as JSON',
    http: { answer: '/run' },
    value: { answer: '{"answer":"hi","tool_calls":[]}' },
  },
])('takes $takes', async ({ http, value }) => {
  const body = { text: 'short', run: { answer: 'hi', tool_calls: [] } };
  const url = await serve((_, response) => response.end(JSON.stringify(body)));
  expect(await runner(url, http).run(request)).toMatchObject({ value });
});

test('a request that takes too long is given up', async () => {
  const controller = new AbortController();
  const url = await serve((_, response) => {
    onTestFinished(() => void response.destroy());
    controller.abort();
  });
  await expect(runner(url).run({ ...request, signal: controller.signal })).rejects.toMatchObject({
    name: 'AgentError',
  });
});

test('a refused connection is an infrastructure error', async () => {
  await expect(runner('http://127.0.0.1:1/').run(request)).rejects.toMatchObject({
    name: 'AgentError',
    kind: 'infra',
  });
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

test.each([
  {
    what: 'an HTML page',
    body: '<!DOCTYPE html><html><title>Log in</title>',
    message: /HTML page.*"Log in"/,
  },
  { what: 'null', body: 'null', message: /gave null/ },
  { what: 'nothing', body: ' ', message: /empty/ },
  { what: 'invalid text', body: Buffer.from([0x68, 0xff]), message: /not UTF-8/ },
])('$what with status 200 is not an answer', async ({ body, message }) => {
  const url = await serve((_, response) => response.end(body));
  await expect(runner(url).run(request)).rejects.toMatchObject({
    kind: 'agent',
    message: expect.stringMatching(message),
  });
});

test('an encoding that the response names is read', async () => {
  const url = await serve((_, response) =>
    response
      .writeHead(200, { 'content-type': 'text/plain; charset=ISO-8859-1' })
      .end(Buffer.from([0x63, 0x61, 0x66, 0xe9])),
  );
  expect(await runner(url).run(request)).toMatchObject({ value: 'caf\u00e9' });
});

test('a 5xx with a binary body stays an infrastructure error', async () => {
  const url = await serve((_, response) => response.writeHead(502).end(Buffer.from([0xff, 0xfe])));
  await expect(runner(url).run(request)).rejects.toMatchObject({ kind: 'infra' });
});

test('a GET carries the query in its URL, as one piece of it', async () => {
  const url = await serve((incoming, response) => response.end(incoming.url));
  const { value } = await runner(`${url}?q={{query}}&n={{ run }}`, { method: 'GET' }).run({
    ...request,
    query: 'a&b=c d',
  });
  expect(value).toBe('/ask?q=a%26b%3Dc%20d&n=2');
});

test.each([
  { status: 200, isAnswer: true },
  { status: 201, isAnswer: true },
  { status: 202, isAnswer: false },
  { status: 203, isAnswer: true },
  { status: 206, isAnswer: false },
  { status: 207, isAnswer: false },
  { status: 226, isAnswer: false },
  { status: 404, isAnswer: false },
])(
  'a body with status $status is an answer: $isAnswer, and one that is not can be accepted',
  async ({ status, isAnswer }) => {
    const url = await serve((_, response) => response.writeHead(status).end('Paris'));
    const outcome = runner(url).run(request);
    if (isAnswer) expect(await outcome).toMatchObject({ value: 'Paris' });
    else
      await expect(outcome).rejects.toMatchObject({
        message: expect.stringContaining(`HTTP ${status}`),
      });
    expect(await runner(url, { acceptStatus: [status] }).run(request)).toMatchObject({
      value: 'Paris',
    });
  },
);

test.each([204, 205])(
  'a response of %i has no body and therefore no answer, for any accepted statuses',
  async (status) => {
    const url = await serve((_, response) => response.writeHead(status).end());
    await expect(runner(url, { acceptStatus: [status] }).run(request)).rejects.toMatchObject({
      message: 'the agent gave an empty answer',
    });
  },
);

test.each([301, 302, 303, 307, 308])(
  'a redirect (%i) is not followed, and reported without possible secrets',
  async (status) => {
    let isFollowed = false;
    const other = await serve((_, response) => {
      isFollowed = true;
      response.end('Paris');
    });
    const url = await serve((_, response) =>
      response
        .writeHead(status, { location: `${other.replace('//', '//user:pass@')}?token=abc#x` })
        .end('moved'),
    );
    await expect(runner(url, { headers: { 'x-api-key': 'k' } }).run(request)).rejects.toMatchObject(
      {
        kind: 'agent',
        message: `the agent answered HTTP ${status}, a redirect to ${other}, which is not followed`,
      },
    );
    expect(isFollowed).toBe(false);
  },
);
