import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  Agent,
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { type AddressInfo, connect, createServer as createTcp, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { type Behaviour, startChaos } from '@agentci/testing/chaos-upstream';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Front, openFront } from '../front.ts';
import type { Plane } from '../plane.ts';
import { tunnelEnvironment } from './environment.ts';
import { openTunnelProxy } from './tunnel-proxy.ts';

const LIMITS = { quietMs: 0, maxMs: 100 };
let opened: { front: Front; plane: Plane } | undefined;
afterEach(async () => {
  await opened?.plane.close();
  await opened?.front.close();
  opened = undefined;
});

/** Without a network, the loopback interface is the model host. */
async function open(
  env: Record<string, string> = {},
  modelHosts = ['127.0.0.1'],
  refuses?: (host: string, isModel: boolean) => void,
) {
  const front = await openFront();
  const plane = openTunnelProxy(
    { ...front, env, now: Date.now },
    { isModelHost: (host) => modelHosts.includes(host), modelHosts, providers: [], refuses },
  );
  front.serve([plane]);
  opened = { front, plane };
  return opened;
}

async function echoServer(): Promise<number> {
  const server = createTcp((socket) => socket.pipe(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const auth = (token: string): string =>
  `Basic ${Buffer.from(`agentci:${token}`).toString('base64')}`;

async function tunnel(target: string): Promise<{ status: number; socket: Socket }> {
  const { front } = opened!;
  const asked = httpRequest(front.origin, {
    method: 'CONNECT',
    path: target,
    headers: { 'proxy-authorization': auth(front.token) },
  });
  asked.end();
  const [reply, socket] = (await once(asked, 'connect')) as [IncomingMessage, Socket];
  onTestFinished(() => void socket.destroy());
  return { status: reply.statusCode!, socket };
}

describe('tunnels', () => {
  it('pass bytes both ways, and name the host if it is a model’s', async () => {
    const { plane } = await open();
    const { status, socket } = await tunnel(`127.0.0.1:${await echoServer()}`);
    socket.end('hello');
    const chunks: Buffer[] = [];
    for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
    expect([status, Buffer.concat(chunks).toString()]).toEqual([200, 'hello']);
    expect(await plane.end(LIMITS)).toEqual({ gaps: [{ gap: 'tunnelled', detail: '127.0.0.1' }] });
    expect(plane.report()).toEqual({ connections: 1, hosts: ['127.0.0.1'] });
    plane.begin();
    expect(await plane.end(LIMITS)).toEqual({ gaps: [] });
  });

  it('that stay open from one query to the next count for both', async () => {
    const { plane } = await open();
    await tunnel(`127.0.0.1:${await echoServer()}`);
    plane.begin();
    expect(await plane.end(LIMITS)).toEqual({ gaps: [{ gap: 'tunnelled', detail: '127.0.0.1' }] });
  });

  it('to other hosts are noted without a gap', async () => {
    const { plane } = await open({}, ['api.openai.com']);
    await tunnel(`127.0.0.1:${await echoServer()}`);
    expect(await plane.end(LIMITS)).toEqual({ gaps: [] });
    expect(plane.report()).toMatchObject({ hosts: ['127.0.0.1'] });
  });

  it.each([
    ['a host that is not there', '127.0.0.1:1', 502],
    ['what is not an address', 'nonsense', 400],
    ['a port beyond the last', '127.0.0.1:70000', 400],
  ])('to %s are refused, and nothing was reached', async (_, target, status) => {
    const { plane } = await open();
    expect((await tunnel(target)).status).toBe(status);
    expect(await plane.end(LIMITS)).toEqual({ gaps: [] });
  });

  it('need the token of the capture', async () => {
    const { front } = await open();
    const socket = connect(Number(new URL(front.origin).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write('CONNECT 127.0.0.1:80 HTTP/1.1\r\nhost: x\r\n\r\n');
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(first.toString()).toMatch(/^HTTP\/1\.1 407 /);
  });

  it('go through the proxy that the user had set, with its credentials', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createServer();
    proxy.on('connect', (request: IncomingMessage, socket: Socket) => {
      asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
      socket.write('HTTP/1.1 200 fine\r\n\r\n');
      socket.pipe(socket);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    onTestFinished(() => void proxy.close());
    const { plane } = await open(
      {
        HTTPS_PROXY: `http://ann:secret@127.0.0.1:${(proxy.address() as AddressInfo).port}`,
        NO_PROXY: 'inside.example',
      },
      ['api.openai.com'],
    );
    await tunnel('Docs.Example.:443');
    const { socket } = await tunnel('api.openai.com.:443');
    socket.write('x');
    await once(socket, 'data');
    expect(asked.slice(1)).toEqual([
      `api.openai.com.:443 Basic ${Buffer.from('ann:secret').toString('base64')}`,
    ]);
    expect(await plane.end(LIMITS)).toMatchObject({
      gaps: [{ detail: 'api.openai.com' }],
      notes: [{ code: 'CAPTURE_OTHER_HOSTS', message: expect.stringContaining('docs.example:') }],
    });
  });
});

/** A request as to a proxy. */
function proxied(url: string, options: RequestOptions = {}): ClientRequest {
  const { front } = opened!;
  return httpRequest(front.origin, {
    agent: false,
    ...options,
    path: url,
    headers: {
      host: new URL(url).host,
      'proxy-authorization': auth(front.token),
      ...options.headers,
    },
  });
}
async function replyTo(sent: ClientRequest): Promise<{ reply: IncomingMessage; text: string }> {
  const [reply] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of reply) text += chunk;
  return { reply, text };
}
async function server(behave: Behaviour) {
  const started = await startChaos(behave);
  onTestFinished(() => started.close());
  return started;
}

describe('requests in the clear', () => {
  it.each([
    ['the page of a website', '/page', []],
    [
      'a model at a host that nothing names, by its path',
      '/messages',
      [{ gap: 'tunnelled', detail: 'models.example' }],
    ],
  ])('%s', async (_, path, gaps) => {
    // The user's proxy is the website, so no name has to be resolved.
    const website = await server((request, response) => {
      response.writeHead(418, { 'x-mine': 'yes' });
      response.end(`${request.method} ${request.path} ${request.body}`);
    });
    const { plane } = await open({ HTTP_PROXY: website.url }, []);
    const url = `http://models.example${path}`;
    const sent = proxied(url, { method: 'POST', headers: { 'content-type': 'text/plain' } });
    sent.end('body');
    const { reply, text } = await replyTo(sent);
    expect([reply.statusCode, reply.headers['x-mine'], text]).toEqual([
      418,
      'yes',
      `POST ${url} body`,
    ]);
    expect(website.requests[0]!.headers).not.toHaveProperty('proxy-authorization');
    expect((await plane.end(LIMITS)).gaps).toEqual(gaps);
  });

  it('to this machine go there, even if the user has a proxy, and its tools are not models', async () => {
    const tool = await server(
      (request, response) => void response.end(`${request.path} ${request.headers.host}`),
    );
    const refused: string[] = [];
    const { plane } = await open({ HTTP_PROXY: 'http://127.0.0.1:9' }, [], (host) =>
      refused.push(host),
    );
    const sent = proxied(`${tool.url}/api/chat?x=1`, { method: 'POST' });
    sent.end('body');
    expect((await replyTo(sent)).text).toBe(`/api/chat?x=1 ${new URL(tool.url).host}`);
    expect([refused, await plane.end(LIMITS)]).toEqual([[], { gaps: [] }]);
  });

  it('pass as they are: names, repeated headers, a body of unknown length, the status and its words', async () => {
    const tool = await server((request, response) => {
      response.writeHead(201, 'Made it', [
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'X-Own-Name',
        'x',
      ]);
      response.end(request.body);
    });
    await open();
    const sent = proxied(tool.url, {
      method: 'PUT',
      headers: { 'X-Own-Name': 'x', 'x-two': ['1', '2'] },
    });
    sent.write('in ');
    sent.end('pieces');
    const { reply, text } = await replyTo(sent);
    expect([reply.statusCode, reply.statusMessage, text]).toEqual([201, 'Made it', 'in pieces']);
    expect(reply.rawHeaders).toEqual(expect.arrayContaining(['X-Own-Name', 'a=1', 'b=2']));
    expect(tool.requests[0]!.rawHeaders).toEqual(expect.arrayContaining(['X-Own-Name', '1', '2']));
    expect(tool.requests[0]!.headers['transfer-encoding']).toBe('chunked');
  });

  it('keep the host name for a local server, and have no body if they had none', async () => {
    const tool = await server((request, response) => void response.end(request.headers.host));
    await open();
    const sent = proxied(tool.url, { method: 'POST', headers: { host: 'site.example' } });
    sent.removeHeader('transfer-encoding');
    sent.useChunkedEncodingByDefault = false;
    sent.end();
    expect((await replyTo(sent)).text).toBe('site.example');
    expect(tool.requests[0]!.headers).not.toHaveProperty('transfer-encoding');
  });

  it('are streams if the reply is one: headers and pieces arrive when they are sent', async () => {
    let more: () => void = () => {};
    const tool = await server((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      more = () => void response.write('data: x\n\n');
    });
    await open();
    const sent = proxied(tool.url);
    sent.end();
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    for (let piece = 0; piece < 2; piece++) {
      more();
      expect(String((await once(reply, 'data'))[0])).toBe('data: x\n\n');
    }
    reply.destroy();
  });

  it('may be large, wait for a word before their bodies, and follow each other on one connection', async () => {
    const tool = await server(
      (request, response) => void response.end(String(request.body.length)),
    );
    await open();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const sockets = new Set<unknown>();
    for (const size of [5_000_000, 3]) {
      const sent = proxied(tool.url, {
        agent,
        method: 'POST',
        headers: { expect: '100-continue', 'content-length': size },
      });
      await once(sent, 'continue');
      sent.end('x'.repeat(size));
      expect((await replyTo(sent)).text).toBe(String(size));
      sockets.add(sent.socket);
    }
    expect(sockets.size).toBe(1);
  });

  it('to a server of this machine that is not there break off, as no server would answer', async () => {
    await open();
    const sent = proxied('http://127.0.0.1:9/health');
    sent.end();
    const [error] = (await once(sent, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
    // Its connection errors are HTTP errors too.
    const python = proxied('http://127.0.0.1:9/health', {
      headers: { 'user-agent': 'Python-urllib/3.11' },
    });
    python.end();
    expect((await replyTo(python)).reply.statusCode).toBe(502);
  });
});

describe('WebSockets', () => {
  const echo = async (): Promise<number> => {
    const there = createServer();
    there.on('upgrade', (request: IncomingMessage, socket: Socket) => {
      const names = Object.keys(request.headers).filter((name) => name.startsWith('proxy-'));
      socket.write(
        `HTTP/1.1 101 ${request.url} ${names.length}\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
      );
      socket.pipe(socket);
    });
    there.listen(0, '127.0.0.1');
    await once(there, 'listening');
    onTestFinished(() => void there.close());
    return (there.address() as AddressInfo).port;
  };

  it('of this machine pass through', async () => {
    await open({}, [], () => {});
    const sent = proxied(`http://localhost:${await echo()}/ws?a=1`, {
      headers: { connection: 'Upgrade', upgrade: 'websocket', 'proxy-connection': 'keep-alive' },
    });
    sent.end();
    const [reply, socket] = (await once(sent, 'upgrade')) as [IncomingMessage, Socket];
    onTestFinished(() => void socket.destroy());
    socket.write('hello');
    expect([reply.statusMessage, String((await once(socket, 'data'))[0])]).toEqual([
      '/ws?a=1 0',
      'hello',
    ]);
  });

  it('need the token, and in replay other machines are refused', async () => {
    const refused: string[] = [];
    await open({}, [], (host) => refused.push(host));
    const headers = { connection: 'Upgrade', upgrade: 'websocket' };
    const sent = proxied('http://chat.example/ws', { headers });
    sent.end();
    expect((await replyTo(sent)).reply.statusCode).toBe(403);
    expect(refused).toEqual(['chat.example']);
    const stranger = proxied('http://localhost:9/ws', {
      headers: { ...headers, 'proxy-authorization': auth('x') },
    });
    stranger.end();
    expect((await replyTo(stranger)).reply.statusCode).toBe(407);
  });
});

describe('the visible part of a tunnel to this machine', () => {
  const CALL = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n\r\n';

  it('a model’s call in the clear, also after others, is one past the capture', async () => {
    const { plane } = await open({}, []);
    const { socket } = await tunnel(`localhost:${await echoServer()}`);
    for (const [text, gaps] of [
      ['GET /health HTTP/1.1\r\n\r\n', []],
      [CALL, [{ gap: 'tunnelled', detail: 'localhost' }]],
    ] as const) {
      socket.write(text);
      expect(String((await once(socket, 'data'))[0])).toBe(text);
      expect((await plane.end(LIMITS)).gaps).toEqual(gaps);
    }
  });

  it('in replay it does not get there', async () => {
    const refused: [string, boolean][] = [];
    let received = '';
    const model = createTcp((socket) =>
      socket.on('data', (chunk) => (received += chunk)).on('error', () => {}),
    );
    model.listen(0, '127.0.0.1');
    await once(model, 'listening');
    onTestFinished(() => void model.close());
    await open({}, [], (host, isModel) => refused.push([host, isModel]));
    const { status, socket } = await tunnel(`127.0.0.1:${(model.address() as AddressInfo).port}`);
    socket.on('error', () => {});
    socket.write(CALL);
    await once(socket, 'close');
    expect([status, refused, received]).toEqual([200, [['127.0.0.1', true]], '']);
  });

  it('if it is encrypted, its address', async () => {
    const { plane } = await open({}, []);
    const port = await echoServer();
    const { socket } = await tunnel(`127.0.0.1:${port}`);
    socket.write(Buffer.from([0x16, 3, 1, 0]));
    await once(socket, 'data');
    expect(await plane.end(LIMITS)).toMatchObject({
      gaps: [],
      notes: [
        { code: 'CAPTURE_OTHER_HOSTS', message: expect.stringContaining(`127.0.0.1:${port}:`) },
      ],
    });
  });
});

describe('environment', () => {
  const of = (env: Record<string, string>, providers: string[] = []) =>
    tunnelEnvironment({
      origin: 'http://127.0.0.1:4000',
      token: 't',
      env,
      providers,
      modelHosts: ['api.openai.com', 'name.openai.azure.com'],
    });

  it('sets every spelling, and leaves only the front out', () => {
    const { set } = of({});
    for (const name of [
      'HTTP_PROXY',
      'http_proxy',
      'HTTPS_PROXY',
      'https_proxy',
      'ALL_PROXY',
      'all_proxy',
    ])
      expect(set[name]).toBe('http://agentci:t@127.0.0.1:4000');
    expect(set.NO_PROXY).toBe('127.0.0.1:4000,169.254.169.254');
    expect(set.NODE_USE_ENV_PROXY).toBe('1');
  });

  it.each([
    ['keeps exceptions of the user', '10.0.0.0/8,.corp.example', '10.0.0.0/8,.corp.example'],
    ['drops those that would hide a model', '*,.azure.com,api.openai.com,db', 'db'],
    [
      'drops those of this machine',
      'localhost,127.0.0.1,127.0.0.0/8,.localhost,::1,[::1],0.0.0.0,db',
      'db',
    ],
    ['drops ends of an address of this machine', '.1,0.0.1,1,10.0.0.1,db', '10.0.0.1,db'],
    [
      'keeps those of a port of this machine',
      'localhost:9000,127.0.0.1:9000',
      'localhost:9000,127.0.0.1:9000',
    ],
  ])('%s', (_, given, kept) => {
    const { set } = of({ no_proxy: given });
    expect(set.no_proxy).toBe(`127.0.0.1:4000,169.254.169.254,${kept}`);
  });

  it('leaves a proxy alone that cannot be chained, with a note', () => {
    const { set, notes } = of({ ALL_PROXY: 'socks5://127.0.0.1:1080' });
    expect(set).toEqual({});
    expect(notes).toMatchObject([{ code: 'CAPTURE_NO_WITNESS' }]);
  });

  it('keeps SDKs from sending telemetry to a model’s host', () => {
    expect(of({}, ['openai']).set).toMatchObject({ OPENAI_AGENTS_DISABLE_TRACING: '1' });
    expect(of({ OPENAI_AGENTS_DISABLE_TRACING: '0' }, ['openai']).set).not.toHaveProperty(
      'OPENAI_AGENTS_DISABLE_TRACING',
    );
  });
});

describe('programs that honour the variables', () => {
  it.each([
    ['curl', 'curl', ['-sS', '--max-time', '10']],
    [
      'Python urllib',
      'python3',
      ['-c', 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())'],
    ],
    [
      'Python requests',
      'python3',
      ['-c', 'import sys, requests; print(requests.get(sys.argv[1]).text)'],
    ],
  ])('%s', async (_, program, args) => {
    const { plane } = await open({}, ['localtest.example']);
    const { set } = plane.environment();
    const env = { PATH: process.env.PATH, ...set };
    await promisify(execFile)(program, [...args, 'https://localtest.example/'], { env }).catch(
      () => {},
    );
    await promisify(execFile)(program, [...args, 'http://localtest.example/'], { env }).catch(
      () => {},
    );
    // The host does not exist: the tunnel proxy was asked and could not reach it.
    expect(opened!.front.strangers()).toBe(0);
    const { url } = await server((_request, response) => void response.end('hello'));
    const here = await promisify(execFile)(program, [...args, url], { env });
    expect(here.stdout.trim()).toBe('hello');
    expect(plane.report()).toEqual({ connections: 1, hosts: ['127.0.0.1'] });
  });
});
