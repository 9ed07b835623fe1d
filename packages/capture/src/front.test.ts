import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Front, openFront } from './front.ts';
import type { Plane, PlaneRequest } from './plane.ts';

const seen: string[] = [];
const echo = ({ path, request, response }: PlaneRequest): void => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    seen.push(
      `${request.httpVersion} ${request.method} ${path} ${Buffer.concat(chunks).toString()}`,
    );
    response.end('seen');
  });
};
const plane: Plane = {
  name: 'llm',
  environment: () => ({ set: {} }),
  handle: echo,
  grpc: (given) => echo({ path: given.request.url ?? '', ...given }),
  tunnel: (target, socket) => socket.end(`HTTP/1.1 200 ${target}\r\n\r\n`),
  begin: () => {},
  end: async () => ({}),
  report: () => ({}),
  close: async () => {},
};

describe('front', () => {
  let front: Front;
  beforeEach(async () => {
    seen.length = 0;
    front = await openFront();
    front.serve([plane]);
  });
  afterEach(() => front.close());

  const ask = async (
    path: string,
    headers: Record<string, string> = {},
    body = '',
  ): Promise<number> => {
    const sent = httpRequest(`${front.origin}${path}`, { method: 'POST', headers, agent: false });
    sent.end(body);
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    reply.resume();
    return reply.statusCode!;
  };
  const own = (path: string): string => `/r/${front.token}${path}`;

  it('listens on 127.0.0.1 with a token of 128 bits', () => {
    expect(front.base).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/r\/[0-9a-f]{32}$/);
  });

  it('passes a plane the path after its name', async () => {
    expect(await ask(own('/llm/openai/v1/chat/completions?a=1'), {}, '{"x":1}')).toBe(200);
    expect(seen).toEqual(['1.1 POST /openai/v1/chat/completions?a=1 {"x":1}']);
  });

  it.each([
    ['a wrong token', '/r/0000/llm/openai', {}, 404],
    ['a token of the right length that is another', `/r/${'0'.repeat(32)}/llm/openai`, {}, 404],
    ['no token', '/llm/openai', {}, 404],
    ['the name of another host, as after DNS rebinding', undefined, { host: 'evil.example' }, 403],
    ['localhost, which may be another address', undefined, { host: 'localhost' }, 403],
    ['the origin of a web page', undefined, { origin: 'https://evil.example' }, 403],
    [
      'what browsers add to requests without an origin',
      undefined,
      { 'sec-fetch-site': 'cross-site' },
      403,
    ],
    ['the origin "null" of a sandboxed page', undefined, { origin: 'null' }, 403],
  ])('turns away a request with %s', async (_, path, headers, status) => {
    expect(await ask(path ?? own('/llm/x'), headers)).toBe(status);
    expect(seen).toEqual([]);
    expect(front.strangers()).toBe(1);
  });

  it('refuses a plane that is not there', async () => {
    expect(await ask(own('/otlp/v1/traces'))).toBe(404);
  });

  it('speaks cleartext HTTP/2 on the same port, with the same checks', async () => {
    const client = connectHttp2(front.origin);
    const ask2 = async (headers: Record<string, string>): Promise<number> => {
      const stream = client.request({ ':method': 'POST', ...headers });
      stream.end('hello');
      const [reply] = await once(stream, 'response');
      stream.resume();
      await once(stream, 'close');
      return (reply as { ':status': number })[':status'];
    };
    expect(await ask2({ ':path': own('/llm/bedrock/model/x/converse') })).toBe(200);
    expect(await ask2({ ':path': '/r/wrong/llm/x' })).toBe(404);
    expect(await ask2({ ':path': own('/llm/x'), ':authority': 'evil.example' })).toBe(403);
    expect(await ask2({ ':path': own('/llm/x'), origin: 'https://evil.example' })).toBe(403);
    client.close();
    expect(seen).toEqual(['2.0 POST /bedrock/model/x/converse hello']);
  });

  it('hands gRPC, which has no path of ours, to the plane that takes it', async () => {
    const client = connectHttp2(front.origin);
    const stream = client.request({
      ':method': 'POST',
      ':path': '/a.B/C',
      'content-type': 'application/grpc+proto',
    });
    stream.end();
    await once(stream, 'response');
    client.close();
    expect(seen).toEqual(['2.0 POST /a.B/C ']);
  });

  it('reads a request that offers h2c, body and all, as the HTTP/1.1 it is', async () => {
    const status = await ask(
      own('/llm/openai/chat'),
      {
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
        'http2-settings': 'AAMAAABkAAQAAP__',
      },
      '{"model":"m"}',
    );
    expect(status).toBe(200);
    expect(seen).toEqual(['1.1 POST /openai/chat {"model":"m"}']);
  });

  it('waits for the rest when the first bytes come one by one', async () => {
    const socket = connect(Number(new URL(front.origin).port), '127.0.0.1');
    const text = `PUT ${own('/llm/x')} HTTP/1.1\r\nhost: ${front.origin.slice(7)}\r\ncontent-length: 0\r\n\r\n`;
    for (const byte of text.slice(0, 4)) {
      socket.write(byte);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    socket.write(text.slice(4));
    const [reply] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(reply.toString()).toMatch(/^HTTP\/1\.1 200/);
    expect(seen).toEqual(['1.1 PUT /x ']);
  });

  it.each([
    [
      'with the token as password',
      (token: string) => `agentci:${token}`,
      'HTTP/1.1 200 api.example:443',
    ],
    ['with another password', () => 'agentci:x', 'HTTP/1.1 407'],
    ['without one', () => undefined, 'HTTP/1.1 407'],
  ])('answers CONNECT %s', async (_, credentials, expected) => {
    const socket = connect(Number(new URL(front.origin).port), '127.0.0.1');
    const given = credentials(front.token);
    const proxy =
      given === undefined
        ? ''
        : `proxy-authorization: Basic ${Buffer.from(given).toString('base64')}\r\n`;
    socket.write(`CONNECT api.example:443 HTTP/1.1\r\nhost: api.example:443\r\n${proxy}\r\n`);
    const [reply] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(reply.toString().startsWith(expected)).toBe(true);
  });

  describe('to a client that takes it for the proxy to itself', () => {
    const address = (): string => front.origin.slice(7);
    /** A connection as some clients open it: a tunnel from the front to itself. */
    const tunnelled = async (): Promise<Socket> => {
      const asked = httpRequest(front.origin, { method: 'CONNECT', path: address(), agent: false });
      asked.end();
      const [reply, socket] = (await once(asked, 'connect')) as [IncomingMessage, Socket];
      onTestFinished(() => void socket.destroy());
      expect(reply.statusCode).toBe(200);
      return socket;
    };

    it('answers a request with its whole address as one without, and the token is still needed', async () => {
      for (const path of [own('/llm/x?a=1'), '/r/wrong/llm/x', '']) {
        const sent = httpRequest(front.origin, {
          method: 'POST',
          path: front.origin + path,
          agent: false,
        });
        sent.end('body');
        const [reply] = (await once(sent, 'response')) as [IncomingMessage];
        reply.resume();
        expect(reply.statusCode).toBe(path.includes(front.token) ? 200 : 404);
      }
      expect(seen).toEqual(['1.1 POST /x?a=1 body']);
    });

    it('speaks HTTP/1.1 in a tunnel to itself', async () => {
      const socket = await tunnelled();
      for (let round = 0; round < 2; round++) {
        socket.write(
          `POST ${own('/llm/x')} HTTP/1.1\r\nhost: ${address()}\r\ncontent-length: 2\r\n\r\nhi`,
        );
        expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/);
      }
      expect(seen).toEqual(['1.1 POST /x hi', '1.1 POST /x hi']);
    });

    it('speaks HTTP/2 in a tunnel to itself, as gRPC has it', async () => {
      const socket = await tunnelled();
      const client = connectHttp2(front.origin, { createConnection: () => socket });
      const stream = client.request({
        ':method': 'POST',
        ':path': '/a.B/C',
        'content-type': 'application/grpc',
      });
      stream.end('x');
      await once(stream, 'response');
      client.destroy();
      expect(seen).toEqual(['2.0 POST /a.B/C x']);
    });

    it('turns a web page away there too', async () => {
      const socket = await tunnelled();
      socket.write(
        `GET ${own('/llm/x')} HTTP/1.1\r\nhost: ${address()}\r\norigin: https://evil.example\r\n\r\n`,
      );
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 403/);
    });
  });

  describe('with a plane that claims requests to other servers', () => {
    const claimed = async (url: string, password = front.token): Promise<number> => {
      const credentials = Buffer.from(`agentci:${password}`).toString('base64');
      const headers = { 'proxy-authorization': `Basic ${credentials}`, host: 'x' };
      const sent = httpRequest(front.origin, { method: 'POST', path: url, headers, agent: false });
      sent.end();
      const [reply] = (await once(sent, 'response')) as [IncomingMessage];
      reply.resume();
      return reply.statusCode!;
    };
    beforeEach(() => {
      const claim: Plane['claim'] = (method, { host, pathname }) =>
        pathname === '/mine' ? `/${method}/${host}` : undefined;
      const proxy: Plane['proxy'] = ({ request, response }) => {
        seen.push(`proxy ${request.url} ${request.headers['proxy-authorization']}`);
        response.end();
      };
      front.serve([
        { ...plane, claim },
        { ...plane, name: 'witness', proxy },
      ]);
    });

    it('hands them to it, and all others to the proxy', async () => {
      expect(await claimed('http://here:1/mine')).toBe(200);
      expect(await claimed('http://here:1/other')).toBe(200);
      expect(seen).toEqual(['1.1 POST /POST/here:1 ', 'proxy http://here:1/other undefined']);
    });

    it('hands no stranger’s to it', async () => {
      expect(await claimed('http://here:1/mine', 'x')).toBe(407);
      expect(await claimed('http://[/mine')).toBe(400);
      expect(seen).toEqual([]);
    });
  });
});
