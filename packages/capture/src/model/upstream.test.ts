import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, it, onTestFinished } from 'vitest';
import { signAgain } from './sign-v4.ts';
import { openConnections, proxyFor } from './upstream.ts';

describe('the proxy of the agent’s environment', () => {
  const proxy = 'http://proxy.example:3128';
  it.each([
    ['is used for TLS', { HTTPS_PROXY: proxy }, proxy],
    [
      'is used in small letters first',
      { https_proxy: proxy, HTTPS_PROXY: 'http://other.example' },
      proxy,
    ],
    ['may be for everything', { ALL_PROXY: proxy }, proxy],
    [
      'is not used for a host of NO_PROXY',
      { HTTPS_PROXY: proxy, NO_PROXY: 'localhost, api.openai.com' },
      undefined,
    ],
    [
      'is not used for a domain of NO_PROXY',
      { HTTPS_PROXY: proxy, no_proxy: '.openai.com' },
      undefined,
    ],
    ['is not used where NO_PROXY is a star', { HTTPS_PROXY: proxy, NO_PROXY: '*' }, undefined],
    [
      'is used for a host that merely ends alike',
      { HTTPS_PROXY: proxy, NO_PROXY: 'penai.com' },
      proxy,
    ],
    ['is not one of another kind', { HTTPS_PROXY: 'socks5://proxy.example' }, undefined],
  ])('%s', (_, env, expected) => {
    expect(proxyFor(new URL('https://api.openai.com/v1'), env)).toBe(expected);
  });

  it('is asked for a tunnel, with its credentials', async () => {
    const asked: IncomingMessage[] = [];
    const server = createServer();
    server.on('connect', (request: IncomingMessage, socket) => {
      asked.push(request);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const connections = openConnections({ HTTPS_PROXY: `http://me:pw@127.0.0.1:${port}` });
    onTestFinished(() => connections.close());
    const sent = connections.request(new URL('https://api.openai.com/v1'), {
      method: 'GET',
      headers: ['Host', 'api.openai.com'],
    });
    sent.end();
    const [error] = (await once(sent, 'error')) as [Error];
    expect(error.message).toContain('answered 403');
    expect(asked[0]!.url).toBe('api.openai.com:443');
    expect(asked[0]!.headers['proxy-authorization']).toBe(
      `Basic ${Buffer.from('me:pw').toString('base64')}`,
    );
  });
});

it('trusts the certificates that the agent’s environment names', async () => {
  const dir = tempDir();
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const made = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
    '-days',
    '2',
    ...names,
  ];
  execFileSync('openssl', made, { stdio: 'ignore' });
  const server = createSecureServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    (_, response) => response.end('trusted'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const ask = async (env: Record<string, string>): Promise<string> => {
    // A proxy would connect to its own machine.
    const connections = openConnections({ HTTPS_PROXY: 'http://127.0.0.1:9', ...env });
    onTestFinished(() => connections.close());
    const target = new URL(`https://localhost:${(server.address() as AddressInfo).port}/`);
    const sent = connections.request(target, { method: 'GET', headers: ['Host', 'x'] });
    sent.end();
    return new Promise((resolve) => {
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
      sent.on('response', (reply) => resolve(`${reply.resume().statusCode}`));
    });
  };
  expect(await ask({})).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
  expect(await ask({ NODE_EXTRA_CA_CERTS: cert })).toBe('200');
  expect(await ask({ NODE_EXTRA_CA_CERTS: join(dir, 'none.pem') })).toBe(
    'DEPTH_ZERO_SELF_SIGNED_CERT',
  );
  expect(await ask({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toBe('200');
});

it('reaches a server on an IPv6 address', async () => {
  const server = createServer((_, response) => response.end('six'));
  server.listen(0, '::1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const connections = openConnections({});
  onTestFinished(() => connections.close());
  const sent = connections.request(
    new URL(`http://[::1]:${(server.address() as AddressInfo).port}/`),
    {
      method: 'GET',
      headers: ['Host', 'x'],
    },
  );
  sent.end();
  const [reply] = (await once(sent, 'response')) as [IncomingMessage];
  reply.resume();
  expect(reply.statusCode).toBe(200);
});

it('signs only requests with a signature of AWS', () => {
  const options = {
    method: 'POST',
    target: new URL('https://x.example/a'),
    body: Buffer.alloc(0),
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    now: 0,
  };
  expect(
    signAgain(['authorization', 'AWS4-HMAC-SHA256 Credential=nonsense'], options),
  ).toBeUndefined();
  const signed = signAgain(
    [
      'authorization',
      'AWS4-HMAC-SHA256 Credential=AK/20260101/eu-west-1/bedrock/aws4_request, SignedHeaders=host',
      'x-amz-date',
      'old',
      'x-amz-security-token',
      'old',
    ],
    options,
  )!;
  expect(signed.join(' ')).not.toContain('old');
  expect(signed.at(-1)).toContain('Credential=a/19700101/eu-west-1/bedrock/aws4_request');
});
