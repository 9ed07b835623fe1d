import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer as createTcp, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { startChaos } from '../../../test/support/chaos-upstream.ts';
import { type Front, openFront } from '../front.ts';
import type { Plane } from '../plane.ts';
import { witnessEnvironment } from './environment.ts';
import { openWitness } from './witness.ts';

const LIMITS = { quietMs: 0, maxMs: 100 };
let opened: { front: Front; plane: Plane } | undefined;
afterEach(async () => {
  await opened?.plane.close();
  await opened?.front.close();
  opened = undefined;
});

/** On a machine without a network the loopback is the model host. */
async function open(env: Record<string, string> = {}, modelHosts = ['127.0.0.1']) {
  const front = await openFront();
  const plane = openWitness(
    { ...front, env, now: Date.now },
    { isModelHost: (host) => modelHosts.includes(host), modelHosts, providers: [] },
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

const auth = (token: string): string => `Basic ${Buffer.from(`agentci:${token}`).toString('base64')}`;

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
  it('pass bytes both ways, and name the host where it is a model’s', async () => {
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
    expect(asked.slice(1)).toEqual([`api.openai.com.:443 Basic ${Buffer.from('ann:secret').toString('base64')}`]);
    expect(await plane.end(LIMITS)).toMatchObject({
      gaps: [{ detail: 'api.openai.com' }],
      notes: [{ code: 'CAPTURE_OTHER_HOSTS', message: expect.stringContaining('docs.example:') }],
    });
  });
});

describe('requests in the clear', () => {
  it.each([
    ['the page of a website', '/page', false],
    ['a model on a server of one’s own, by its path', '/v1/chat/completions', true],
  ])('%s', async (_, path, isModel) => {
    const { front, plane } = await open({}, []);
    const server = await startChaos((request, response) => {
      response.writeHead(418, { 'x-mine': 'yes' });
      response.end(`${request.method} ${request.path} ${request.body}`);
    });
    onTestFinished(() => server.close());
    const sent = httpRequest(front.origin, {
      method: 'POST',
      path: server.url + path,
      headers: {
        host: new URL(server.url).host,
        'proxy-authorization': auth(front.token),
        'content-type': 'text/plain',
      },
    });
    sent.end('body');
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of reply) text += chunk;
    expect([reply.statusCode, reply.headers['x-mine'], text]).toEqual([418, 'yes', `POST ${path} body`]);
    expect(server.requests[0]!.headers).not.toHaveProperty('proxy-authorization');
    expect((await plane.end(LIMITS)).gaps).toHaveLength(isModel ? 1 : 0);
  });
});

describe('environment', () => {
  const of = (env: Record<string, string>, providers: string[] = []) =>
    witnessEnvironment({
      origin: 'http://127.0.0.1:4000',
      token: 't',
      env,
      providers,
      modelHosts: ['api.openai.com', 'name.openai.azure.com'],
    });

  it('sets every spelling, and leaves this machine out', () => {
    const { set } = of({});
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'])
      expect(set[name]).toBe('http://agentci:t@127.0.0.1:4000');
    expect(set.NO_PROXY).toMatch(/^127\.0\.0\.1,localhost\b/);
    expect(set.NODE_USE_ENV_PROXY).toBe('1');
  });

  it.each([
    ['keeps exceptions of the user', '10.0.0.0/8,.corp.example', '10.0.0.0/8,.corp.example'],
    ['drops those that would hide a model', '*,.azure.com,api.openai.com,db', 'db'],
  ])('%s', (_, given, kept) => {
    const { set } = of({ no_proxy: given });
    expect(set.no_proxy).toBe(`127.0.0.1,localhost,169.254.169.254,${kept}`);
  });

  it('leaves a proxy alone that cannot be chained, and says so', () => {
    const { set, notes } = of({ ALL_PROXY: 'socks5://127.0.0.1:1080' });
    expect(set).toEqual({});
    expect(notes).toMatchObject([{ code: 'CAPTURE_NO_WITNESS' }]);
  });

  it('keeps SDKs from sending telemetry of their own to a model’s host', () => {
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
    ['Python requests', 'python3', ['-c', 'import sys, requests; print(requests.get(sys.argv[1]).text)']],
  ])('%s', async (_, program, args) => {
    const { plane } = await open({}, ['localtest.example']);
    const { set } = plane.environment();
    const env = { PATH: process.env.PATH, ...set };
    await promisify(execFile)(program, [...args, 'https://localtest.example/'], { env }).catch(() => {});
    await promisify(execFile)(program, [...args, 'http://localtest.example/'], { env }).catch(() => {});
    // The host does not exist: the witness was asked and could not reach it.
    expect(opened!.front.strangers()).toBe(0);
    const server = await startChaos((_request, response) => void response.end('hello'));
    onTestFinished(() => server.close());
    const direct = await promisify(execFile)(program, [...args, server.url], { env });
    expect(direct.stdout.trim()).toBe('hello');
    expect(plane.report()).toEqual({ connections: 0, hosts: [] });
  });
});
