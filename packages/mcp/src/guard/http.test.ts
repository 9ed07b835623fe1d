import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { parsePolicy } from '@agentci/policy';
import { describe, expect, onTestFinished, test } from 'vitest';
import { relay } from '../http/relay.ts';
import { NO_AUDIT } from './audit.ts';
import { Guard } from './guard.ts';
import { GuardSessions, guardHttp } from './http.ts';

const listen = async (handler: RequestListener): Promise<URL> => {
  const server: Server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
};

/** The client's answer for a call through a guard and a server with this response. */
async function ask(answer: {
  readonly headers: Record<string, string>;
  readonly body: Buffer | string;
  readonly status?: number;
}) {
  const { policy } = parsePolicy('rules: [{type: detect, in: result, pattern: "EVIL"}]', {
    file: 'p.yaml',
  });
  const guard = new Guard({
    policy: policy!,
    mode: 'enforce',
    strict: false,
    denyAs: 'result',
    server: undefined,
    audit: NO_AUDIT,
    auditArgs: 'redacted',
    onProblem: () => {},
  });
  const sessions = new GuardSessions(guard, 'process');
  const upstream = await listen((request, response) => {
    request
      .resume()
      .on('end', () => response.writeHead(answer.status ?? 200, answer.headers).end(answer.body));
  });
  const front = await listen((request, response) =>
    relay(request, response, { upstream, middle: guardHttp(guard, sessions, request)! }),
  );
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'read', arguments: {} },
  };
  const reply = await fetch(front, { method: 'POST', body: JSON.stringify(call) });
  const text = await reply.text().catch(() => '');
  return { status: reply.status, text, ...sessions.close() };
}

const errorOf = (message: string, id: unknown = null, more: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', error: { code: -32001, message, ...more }, id });
const JSON_TYPE = { 'content-type': 'application/json' };
const SSE_TYPE = { 'content-type': 'text/event-stream' };
const answerOf = (said: string, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: said }] } });
const event = (said: string): string => `event: message\ndata: ${answerOf(said)}\n\n`;
const packed = (packing: string) => ({ ...JSON_TYPE, 'content-encoding': packing });

describe('what a server says over HTTP is read, or not handed on', () => {
  test.each<[string, Record<string, string>, (said: string) => Buffer | string]>([
    ['plain JSON', JSON_TYPE, (said) => answerOf(said)],
    ['gzip', packed('gzip'), (said) => gzipSync(answerOf(said))],
    ['deflate', packed('deflate'), (said) => deflateSync(answerOf(said))],
    ['brotli', packed('br'), (said) => brotliCompressSync(answerOf(said))],
    [
      'events in gzip',
      { ...SSE_TYPE, 'content-encoding': 'gzip' },
      (said) => gzipSync(event(said)),
    ],
    ['events', SSE_TYPE, event],
    ['events after a byte-order mark', SSE_TYPE, (said) => `\ufeffdata: ${answerOf(said)}\n\n`],
    [
      'lines that end in several ways',
      SSE_TYPE,
      (said) => `: x\r\n\rdata: ${answerOf(said)}\n\r\n`,
    ],
    ['an event without its blank line', SSE_TYPE, (said) => `data: ${answerOf(said)}\n`],
    ['JSON under another type', { 'content-type': 'text/plain' }, (said) => answerOf(said)],
    ['JSON without a type', {}, (said) => answerOf(said)],
    ['an id of another type', JSON_TYPE, (said) => answerOf(said, '1')],
  ])('%s', async (_, headers, make) => {
    const clean = await ask({ headers, body: make('fine') });
    expect(clean.text).toContain('fine');
    expect(clean).toMatchObject({ calls: 1, refused: 0, withheld: 0 });
    const evil = await ask({ headers, body: make('EVIL text') });
    expect(evil.text).not.toContain('EVIL text');
    expect(evil.text).toContain('agentci/decision');
    expect(evil).toMatchObject({ calls: 1, withheld: 1 });
  });

  test.each<[string, Record<string, string>, Buffer | string]>([
    ['a packing that is not known', packed('zstd'), answerOf('EVIL text')],
    ['two packings', packed('gzip, br'), gzipSync(answerOf('EVIL text'))],
    ['a packing that is not there', packed('gzip'), answerOf('EVIL text')],
    ['UTF-16', JSON_TYPE, Buffer.from(answerOf('EVIL text'), 'utf16le')],
    ['events under another type', { 'content-type': 'x/text/event-stream' }, event('EVIL text')],
    ['an id of no request', JSON_TYPE, answerOf('EVIL text', 7)],
  ])('not handed on: %s', async (_, headers, body) => {
    const { text, status } = await ask({ headers, body });
    expect(text.replaceAll('\0', '')).not.toContain('EVIL text');
    expect(status).toBe(502);
  });
});

describe('an answer with the status of a failure', () => {
  const TEXT = { 'content-type': 'text/plain' };

  test.each<[string, number, Record<string, string>, string]>([
    ['a session that is not found', 404, JSON_TYPE, errorOf('Session not found')],
    [
      'an error without an id',
      400,
      JSON_TYPE,
      '{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}',
    ],
    ['an error of the request', 400, JSON_TYPE, errorOf('no', 1)],
    ['an object that is not a message', 401, JSON_TYPE, '{"error":"invalid_token"}'],
    ['text', 503, TEXT, 'try again later'],
    ['nothing', 500, TEXT, ''],
  ])('is handed on with its status: %s', async (_, status, headers, body) => {
    expect(await ask({ status, headers, body })).toMatchObject({
      status,
      text: body,
      calls: 1,
      withheld: 0,
    });
  });

  test.each<[string, Record<string, string>, Buffer | string]>([
    ['in an error without an id', JSON_TYPE, errorOf('EVIL text')],
    ['in the data of an error', JSON_TYPE, errorOf('no', null, { data: { why: 'EVIL text' } })],
    ['in an error of the request', JSON_TYPE, errorOf('EVIL text', 1)],
    ['in text', TEXT, 'the EVIL text'],
    ['in UTF-16', TEXT, Buffer.from('the EVIL text', 'utf16le')],
    ['in a result', JSON_TYPE, answerOf('EVIL text')],
    ['in a result of no request', JSON_TYPE, answerOf('EVIL text', null)],
  ])('is withheld if the policy forbids %s', async (_, headers, body) => {
    const { text, withheld } = await ask({ status: 404, headers, body });
    expect(text.replaceAll('\0', '')).not.toContain('EVIL text');
    expect(withheld).toBe(1);
  });
});
