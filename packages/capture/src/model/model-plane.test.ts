import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type Behaviour, slowly, startChaos } from '@agentci/testing/chaos-upstream';
import { afterEach, describe, expect, it } from 'vitest';
import type { Exchange } from '../exchange.ts';
import { openFront } from '../front.ts';
import type { Answer } from './answer.ts';
import { openModelPlane } from './model-plane.ts';
import { openConnections } from './upstream.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Setup {
  readonly answer?: Answer;
  readonly env?: Record<string, string>;
  readonly root?: string;
}

async function start(behave: Behaviour, { answer, env = {}, root }: Setup = {}) {
  const upstream = await startChaos(behave);
  const front = await openFront();
  const connections = openConnections({});
  const context = { ...front, env, now: Date.now };
  const plane = openModelPlane(context, {
    upstreams: [{ provider: 'openai', root: root ?? upstream.url, isOwn: true }],
    upstreamOfHost: (host) =>
      host === 'api.groq.com'
        ? { provider: 'groq', root: `https://${host}`, isOwn: false }
        : undefined,
    environment: () => ({ set: {} }),
    connections,
    answer,
    refusesUsage: new Set(),
  });
  front.serve([plane]);
  closers.push(
    () => connections.close(),
    () => front.close(),
    () => upstream.close(),
  );
  const exchanges = async (): Promise<readonly Exchange[]> =>
    (await plane.end({ quietMs: 0, maxMs: 2000 })).exchanges!;
  return { upstream, url: `${front.base}/llm/openai`, exchanges, plane };
}

async function post(url: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const sent = httpRequest(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    agent: false,
  });
  sent.end(body);
  const [reply] = (await once(sent, 'response')) as [IncomingMessage];
  const started = performance.now();
  const chunks: [number, Buffer][] = [];
  let failure: Error | undefined;
  reply.on('error', (error) => {
    failure = error;
  });
  reply.on('data', (chunk: Buffer) => chunks.push([performance.now() - started, chunk]));
  await new Promise((resolve) => reply.on('close', resolve));
  return { reply, chunks, failure, body: Buffer.concat(chunks.map(([, chunk]) => chunk)) };
}

const bytesOf = ({ chunks }: Exchange): Buffer => Buffer.concat(chunks.map(([, bytes]) => bytes));
const CHAT = '/v1/chat/completions';
const ask = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
const askStream = JSON.stringify({
  model: 'm',
  messages: [],
  stream: true,
  stream_options: { include_usage: true },
});
const chunk = (text: string): string => `data: {"choices":[{"delta":{"content":"${text}"}}]}\n\n`;

describe('model plane', () => {
  it('passes request and reply on as they are and keeps both', async () => {
    const { upstream, url, exchanges } = await start((_, response) => {
      response.writeHead(200, 'Fine', {
        'content-type': 'application/json',
        'X-Odd-Case': 'Yes',
        'set-cookie': ['a=1', 'b=2'],
      });
      response.end('{"id":"r1"}');
    });
    const { reply, body } = await post(`${url}${CHAT}?api-version=1&key=sk-secret`, ask, {
      'X-Title': 'Mine',
      authorization: 'Bearer sk-secret',
    });
    expect(reply.statusMessage).toBe('Fine');
    expect(reply.rawHeaders).toContain('X-Odd-Case');
    expect(reply.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(body.toString()).toBe('{"id":"r1"}');
    const [asked] = upstream.requests;
    expect(asked).toMatchObject({ path: `${CHAT}?api-version=1&key=sk-secret`, body: ask });
    expect(asked!.headers).toMatchObject({
      authorization: 'Bearer sk-secret',
      'accept-encoding': 'identity',
    });
    expect(asked!.rawHeaders).toContain('X-Title');
    const [exchange] = await exchanges();
    expect(exchange).toMatchObject({
      i: 1,
      route: 'chat',
      provider: 'openai',
      status: 200,
      complete: true,
    });
    expect(exchange!.uri).toBe(`${upstream.url}${CHAT}?api-version=1`);
    expect(exchange!.request.toString()).toBe(ask);
    expect(bytesOf(exchange!).toString()).toBe('{"id":"r1"}');
    expect(JSON.stringify(exchange)).not.toContain('sk-secret');
    expect(exchange!.headers).toEqual({ 'content-type': 'application/json' });
  });

  describe('with a server that nothing names', () => {
    const reply: Behaviour = (_, response) => void response.end('{"id":"r1"}');

    it('sends what looks like a model’s call on to the very address it names', async () => {
      const other = await startChaos(reply);
      closers.push(() => other.close());
      const { upstream, url, exchanges } = await start(reply);
      const { port } = new URL(other.url);
      const to = url.replace(/openai$/, `@http:localhost:${port}`);
      expect((await post(`${to}${CHAT}?x=1`, ask)).body.toString()).toBe('{"id":"r1"}');
      expect([upstream.requests.length, other.requests]).toEqual([
        0,
        [expect.objectContaining({ path: `${CHAT}?x=1`, body: ask })],
      ]);
      expect(other.requests[0]!.headers.host).toBe(`localhost:${port}`);
      expect(await exchanges()).toMatchObject([
        {
          provider: `@localhost:${port}`,
          uri: `http://localhost:${port}${CHAT}`,
          path: `${CHAT}?x=1`,
          complete: true,
        },
      ]);
    });

    it.each([
      ['another path', '@http:127.0.0.1:PORT/admin'],
      ['a path of a tool', '@http:127.0.0.1:PORT/tools/run'],
      ['a host without a scheme', '@127.0.0.1:PORT/v1/chat/completions'],
      ['another scheme', '@ftp:127.0.0.1:PORT/v1/chat/completions'],
      ['a user in the address', '@http:a@127.0.0.1:PORT/v1/chat/completions'],
      ['another spelling of the address', '@http:127.1:PORT/v1/chat/completions'],
      ['a query that looks like it', '@http:127.0.0.1:PORT/admin?/v1/chat/completions'],
    ])('is no way to %s', async (_, path) => {
      const { upstream, url, exchanges } = await start(reply);
      const to = url.replace(/openai$/, path.replace('PORT', new URL(upstream.url).port));
      expect((await post(to, ask)).reply.statusCode).toBe(404);
      expect([upstream.requests, await exchanges()]).toEqual([[], []]);
    });

    it('says of one that does not answer that it did not, and to whom', async () => {
      const { url, exchanges } = await start(reply);
      const { reply: got } = await post(url.replace(/openai$/, `@http:127.0.0.1:9${CHAT}`), ask);
      expect(got.statusCode).toBe(502);
      expect(await exchanges()).toMatchObject([
        { complete: false, error: 'no reply from 127.0.0.1:9 (ECONNREFUSED)' },
      ]);
    });

    it('claims calls to it, and everything below an address of the user', async () => {
      const { plane, upstream } = await start(reply);
      const claimed = (method: string, url: string) => plane.claim?.(method, new URL(url));
      expect(claimed('POST', `http://localhost:1${CHAT}?a`)).toBe(`/@http:localhost:1${CHAT}?a`);
      expect(claimed('POST', 'http://localhost:11434/api/chat')).toBe(
        '/@http:localhost:11434/api/chat',
      );
      expect(claimed('GET', `${upstream.url}/v1/models?a`)).toBe('/openai/v1/models?a');
      expect(claimed('POST', 'http://localhost:1/api/chat')).toBeUndefined();
      expect(claimed('GET', `http://localhost:1${CHAT}`)).toBeUndefined();
    });

    it('claims none that needs the proxy of the user', async () => {
      const { plane } = await start(reply, {
        env: { HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: 'inside.example' },
      });
      const claimed = (host: string) =>
        plane.claim?.('POST', new URL(`http://${host}${CHAT}`)) !== undefined;
      expect(['models.example', 'inside.example', 'localhost:1'].map(claimed)).toEqual([
        false,
        true,
        true,
      ]);
    });

    it('reports calls that could not be redirected here, and names their server', async () => {
      const { plane, url } = await start(reply);
      expect(
        (await post(url.replace(/openai$/, '@past/gateway.example:8443'), '')).reply.statusCode,
      ).toBe(204);
      expect((await plane.end({ quietMs: 0, maxMs: 100 })).gaps).toEqual([
        { gap: 'tunnelled', detail: 'gateway.example:8443' },
      ]);
      expect((await plane.end({ quietMs: 0, maxMs: 100 })).gaps).toEqual([]);
    });
  });

  it('passes each piece of a stream on when it comes, not all at the end', async () => {
    const pieces = [chunk('a'), chunk('b'), chunk('c'), chunk('d'), 'data: [DONE]\n\n'];
    const { url, exchanges } = await start(slowly(pieces, 40));
    const { chunks } = await post(url + CHAT, askStream);
    expect(chunks.map(([, bytes]) => bytes.toString())).toEqual(pieces);
    expect(chunks.at(-1)![0] - chunks[0]![0]).toBeGreaterThan(100);
    const [exchange] = await exchanges();
    expect(exchange!.chunks.map(([, bytes]) => bytes.toString())).toEqual(pieces);
    expect(exchange!.chunks[4]![0] - exchange!.chunks[0]![0]).toBeGreaterThan(100);
    expect(exchange!.ttfbMs).toBe(exchange!.chunks[0]![0]);
  });

  it.each([429, 500, 503, 529])(
    'passes status %i, its body and retry-after through',
    async (status) => {
      const { url, exchanges } = await start((_, response) => {
        response.writeHead(status, { 'retry-after': '7', 'x-should-retry': 'false' });
        response.end('{"error":{"message":"slow down"}}');
      });
      const { reply, body } = await post(url + CHAT, ask);
      expect([reply.statusCode, reply.headers['retry-after'], body.toString()]).toEqual([
        status,
        '7',
        '{"error":{"message":"slow down"}}',
      ]);
      expect(await exchanges()).toMatchObject([
        { status, complete: true, headers: { 'retry-after': '7' } },
      ]);
    },
  );

  it('keeps characters whole that are split over chunks', async () => {
    const bytes = Buffer.from(`data: {"choices":[{"delta":{"content":"Größe 😀"}}]}\n\n`);
    const pieces = [...bytes].map((byte) => Buffer.from([byte]));
    const { url, exchanges } = await start(slowly(pieces, 0));
    const { body } = await post(url + CHAT, askStream);
    expect(body.equals(bytes)).toBe(true);
    expect(bytesOf((await exchanges())[0]!).equals(bytes)).toBe(true);
  });

  it('passes a packed reply on as it is, though nobody asked for it', async () => {
    const packed = gzipSync('{"id":"r1"}');
    const { url, exchanges } = await start((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(packed);
    });
    const { reply, body } = await post(url + CHAT, ask);
    expect(reply.headers['content-encoding']).toBe('gzip');
    expect(body.equals(packed)).toBe(true);
    expect((await exchanges())[0]!.headers['content-encoding']).toBe('gzip');
  });

  it('breaks off when the upstream does, and reports it', async () => {
    const { url, exchanges } = await start(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk('half'));
      await sleep(20);
      response.destroy();
    });
    const { failure, body } = await post(url + CHAT, askStream);
    expect(failure).toBeDefined();
    expect(body.toString()).toBe(chunk('half'));
    expect(await exchanges()).toMatchObject([
      { complete: false, why: 'upstream_reset', status: 200 },
    ]);
  });

  it('answers 502 with the reason if nothing listens', async () => {
    const { url, exchanges } = await start(() => {}, { root: 'http://127.0.0.1:9' });
    const { reply, body } = await post(url + CHAT, ask);
    expect(reply.statusCode).toBe(502);
    expect(body.toString()).toContain('no reply from 127.0.0.1:9 (ECONNREFUSED)');
    const [exchange] = await exchanges();
    expect(exchange).toMatchObject({
      status: undefined,
      complete: false,
      error: 'no reply from 127.0.0.1:9 (ECONNREFUSED)',
    });
    expect(exchange!.why).toBeUndefined();
  });

  const hangUpAfter = async (url: string, text: string): Promise<void> => {
    const sent = httpRequest(url, { method: 'POST', agent: false });
    sent.on('error', () => {});
    sent.end(askStream);
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    reply.on('error', () => {});
    let seen = '';
    for await (const bytes of reply) {
      seen += String(bytes);
      if (seen.includes(text)) break;
    }
    sent.destroy();
  };

  it('counts a stream as complete when the client hangs up after its last words', async () => {
    const { url, exchanges } = await start(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`${chunk('all')}data: [DONE]\n\n`);
      await sleep(200);
      response.end();
    });
    await hangUpAfter(url + CHAT, '[DONE]');
    const [exchange] = await exchanges();
    expect(exchange).toMatchObject({ complete: true });
    expect(exchange!.why).toBeUndefined();
  });

  it('marks a stream that the client gave up, and lets the upstream go', async () => {
    let isClosed = false;
    const { url, exchanges } = await start(async (_, response) => {
      response.on('close', () => {
        isClosed = true;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let i = 0; i < 100 && !isClosed; i++) {
        response.write(chunk(`piece ${i}`));
        await sleep(20);
      }
      response.end();
    });
    await hangUpAfter(url + CHAT, 'piece 2');
    expect(await exchanges()).toMatchObject([{ complete: false, why: 'client_abort' }]);
    await sleep(50);
    expect(isClosed).toBe(true);
  });

  it('marks a client that goes before there is any reply', async () => {
    const { url, exchanges } = await start(() => sleep(500));
    const sent = httpRequest(url + CHAT, { method: 'POST', agent: false });
    sent.on('error', () => {});
    sent.end(ask);
    await sleep(50);
    sent.destroy();
    await sleep(20);
    expect(await exchanges()).toMatchObject([
      { complete: false, why: 'client_abort', status: undefined },
    ]);
  });

  it('has no idle timer: a stream that pauses goes on', async () => {
    const { url } = await start(slowly([chunk('a'), chunk('b')], 1500));
    const { body } = await post(url + CHAT, askStream);
    expect(body.toString()).toBe(chunk('a') + chunk('b'));
  });

  it('passes 80 MB on and says that it did not keep them', async () => {
    const piece = Buffer.alloc(1024 * 1024, 120);
    const { url, exchanges } = await start(async (_, response) => {
      response.writeHead(200);
      for (let i = 0; i < 80; i++) if (!response.write(piece)) await once(response, 'drain');
      response.end();
    });
    const { body } = await post(url + CHAT, ask);
    expect(body.length).toBe(80 * 1024 * 1024);
    const [exchange] = await exchanges();
    expect(exchange).toMatchObject({ complete: false, why: 'too_large' });
  });

  it('passes a request of 70 MB on and says that it did not keep it', async () => {
    const large = Buffer.alloc(70 * 1024 * 1024, 120);
    const { upstream, url, exchanges } = await start((_, response) => {
      response.end('{}');
    });
    const { reply } = await post(url + CHAT, large);
    expect(reply.statusCode).toBe(200);
    expect(upstream.requests[0]!.body.length).toBe(large.length);
    expect(await exchanges()).toMatchObject([{ why: 'too_large', complete: false }]);
  });

  it('refuses a WebSocket with 426', async () => {
    const { url, plane } = await start(() => {});
    const { host, pathname, port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `GET ${pathname}/v1/realtime HTTP/1.1\r\nhost: ${host}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\n\r\n`,
    );
    const [reply] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(reply.toString()).toMatch(/^HTTP\/1\.1 426 /);
    expect((await plane.end({ quietMs: 0, maxMs: 0 })).notes).toMatchObject([
      { code: 'CAPTURE_WEBSOCKET' },
    ]);
  });

  it.each([
    '/gemini/v1/x',
    '/@evil.example/v1/chat/completions',
    '/@api.groq.com.evil.example/x',
    '/',
    '',
  ])('is not an open proxy: %j goes nowhere', async (path) => {
    const { url, upstream, exchanges } = await start((_, response) => void response.end());
    const { reply } = await post(url.replace(/\/openai$/, path), ask);
    expect(reply.statusCode).toBe(404);
    expect(upstream.requests).toEqual([]);
    expect(await exchanges()).toEqual([]);
  });

  it('reuses a connection, and resends if the server has just closed it', async () => {
    let count = 0;
    const { url, upstream } = await start((_, response) => {
      count++;
      response.setHeader('connection', 'keep-alive');
      response.end('{}');
      // Closed silently, as servers do with idle connections.
      if (count === 1) setTimeout(() => response.socket?.destroy(), 5);
    });
    for (let i = 0; i < 3; i++) {
      const { reply } = await post(url + CHAT, ask);
      expect(reply.statusCode).toBe(200);
      await sleep(i === 0 ? 4 : 1);
    }
    expect(upstream.requests.length).toBe(3);
  });

  it('serves the answer of a hook and marks it', async () => {
    const { url, upstream, exchanges } = await start(() => {}, {
      answer: async ({ route }) =>
        route === 'chat'
          ? {
              served: 'cassette',
              status: 200,
              headers: { 'content-type': 'text/event-stream' },
              chunks: [Buffer.from('a'), Buffer.from('b')],
            }
          : undefined,
    });
    const { body } = await post(url + CHAT, ask);
    expect(body.toString()).toBe('ab');
    expect(upstream.requests).toEqual([]);
    expect(await exchanges()).toMatchObject([{ served: 'cassette', complete: true, status: 200 }]);
  });

  it('refuses a signed request that it cannot sign again, with the way out', async () => {
    const { url, upstream, exchanges } = await start(() => {});
    const authorization =
      'AWS4-HMAC-SHA256 Credential=AK/20260101/eu-west-1/bedrock/aws4_request, SignedHeaders=host, Signature=0';
    const { reply, body } = await post(`${url}/model/m/converse`, ask, { authorization });
    expect(reply.statusCode).toBe(400);
    expect(body.toString()).toContain('AWS_ACCESS_KEY_ID');
    expect(upstream.requests).toEqual([]);
    expect(await exchanges()).toMatchObject([{ complete: false, status: undefined }]);
  });

  it('separates the exchanges of two queries', async () => {
    const { url, plane, exchanges } = await start((_, response) => void response.end('{}'));
    await post(url + CHAT, ask);
    expect(await exchanges()).toHaveLength(1);
    plane.begin();
    expect(await exchanges()).toHaveLength(0);
    plane.begin();
    await post(url + CHAT, ask);
    await post(url + CHAT, ask);
    expect((await exchanges()).map(({ i }) => i)).toEqual([1, 2]);
  });
});

describe('usage of streams', () => {
  const said = 'data: {"choices":[{"delta":{"content":"hi"}}],"usage":null}\n\n';
  const usage = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\n';
  const server: Behaviour = async ({ body }, response) => {
    const asks = body.includes('include_usage":true');
    await slowly(
      asks
        ? [said, usage, 'data: [DONE]\n\n']
        : [said.replace(',"usage":null', ''), 'data: [DONE]\n\n'],
      1,
    )(undefined as never, response);
  };
  const plain = '{"model":"m","stream":true}';

  it('is requested and hidden if the client did not request it', async () => {
    const { url, upstream, exchanges } = await start(server);
    const { body } = await post(url + CHAT, plain);
    expect(body.toString()).toBe(
      'data: {"choices":[{"delta":{"content":"hi"}}]}\n\ndata: [DONE]\n\n',
    );
    expect(JSON.parse(upstream.requests[0]!.body)).toEqual({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
    });
    const [exchange] = await exchanges();
    expect(exchange!.request.toString()).toBe(plain);
    expect(exchange!.askedUsage).toBe(true);
    expect(bytesOf(exchange!).toString()).toContain('"prompt_tokens":3');
  });

  it('is shown to a client that asked', async () => {
    const { url, exchanges } = await start(server);
    const { body } = await post(url + CHAT, askStream);
    expect(body.toString()).toContain('"prompt_tokens":3');
    expect((await exchanges())[0]!.askedUsage).toBeUndefined();
  });

  it('is hidden in a packed stream too', async () => {
    const { url } = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      response.end(gzipSync(said + usage));
    });
    const { reply, body } = await post(url + CHAT, plain);
    expect(reply.headers['content-encoding']).toBeUndefined();
    expect(body.toString()).toBe('data: {"choices":[{"delta":{"content":"hi"}}]}\n\n');
  });

  it('is not asked for again of a server that refuses to hear of it', async () => {
    const { url, upstream } = await start(({ body }, response) => {
      if (body.includes('stream_options')) {
        response.writeHead(400);
        response.end('{"error":{"message":"unknown field stream_options"}}');
      } else response.end(said);
    });
    for (let i = 0; i < 2; i++) expect((await post(url + CHAT, plain)).reply.statusCode).toBe(200);
    expect(upstream.requests.map(({ body }) => body.includes('stream_options'))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('leaves a mistake of the client to the client', async () => {
    const { url, upstream } = await start((_, response) => {
      response.writeHead(400);
      response.end('{"error":{"message":"no such model"}}');
    });
    for (let i = 0; i < 2; i++) {
      const { reply, body } = await post(url + CHAT, plain);
      expect([reply.statusCode, body.toString()]).toEqual([
        400,
        '{"error":{"message":"no such model"}}',
      ]);
    }
    expect(upstream.requests).toHaveLength(4);
  });
});

it('loses none of many exchanges over many connections, and marks every one that was given up', async () => {
  const pieces = [chunk('a'), chunk('b'), chunk('c'), 'data: [DONE]\n\n'];
  const { url, exchanges } = await start(async (request, response) => {
    if (request.path.endsWith('?stream=long')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(pieces[0]);
    } else await slowly(pieces, 3)(request, response);
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  let aborted = 0;
  let seed = 7;
  const random = (): number => {
    seed = (seed * 16807) % 2147483647;
    return seed / 2147483647;
  };
  const one = async (isAborting: boolean): Promise<void> => {
    const sent = httpRequest(`${url}${CHAT}${isAborting ? '?stream=long' : ''}`, {
      method: 'POST',
      agent,
    });
    sent.on('error', () => {});
    sent.end(askStream);
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    reply.on('error', () => {});
    if (!isAborting) {
      for await (const _ of reply);
      return;
    }
    aborted++;
    await once(reply, 'data');
    sent.destroy();
  };
  const left = Array.from({ length: 1000 }, () => random() < 0.2);
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) await one(next);
    }),
  );
  agent.destroy();
  const all = await exchanges();
  expect(all).toHaveLength(1000);
  expect(all.filter(({ why }) => why === 'client_abort')).toHaveLength(aborted);
  expect(all.filter(({ complete, why }) => complete && why === undefined)).toHaveLength(
    1000 - aborted,
  );
});
