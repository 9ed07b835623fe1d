import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, createServer as createHttp2, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { capturedTrace } from '@agentci/formats';
import { startChaos } from '@agentci/testing/chaos-upstream';
import { otlp, otlpLogs } from '@agentci/testing/otlp';
import { toolNames } from '@agentci/trace';
import { PbfReader, PbfWriter } from 'pbf';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Front, openFront } from '../front.ts';
import type { Evidence, Plane } from '../plane.ts';
import { type OtlpPlaneOptions, openOtlpPlane } from './otlp-plane.ts';
import { framed } from './reply.ts';

const SOON = { quietMs: 20, maxMs: 1000 };
const TOOL = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'lookup' };
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const GRPC_TRACES = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

let opened: { front: Front; plane: Plane } | undefined;
afterEach(async () => {
  await opened?.plane.close();
  await opened?.front.close();
  opened = undefined;
});

async function open(options: Partial<OtlpPlaneOptions> = {}, env: Record<string, string> = {}) {
  const front = await openFront();
  const plane = openOtlpPlane({ ...front, env, now: Date.now }, { endsWithRun: true, ...options });
  front.serve([plane]);
  opened = { front, plane };
  return opened;
}

async function post(
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = JSON_TYPE,
) {
  const { base } = opened!.front;
  const sent = httpRequest(`${base}/otlp${path}`, { method: 'POST', headers, agent: false });
  sent.on('error', () => {});
  sent.end(body);
  const [reply] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of reply as AsyncIterable<Buffer>) chunks.push(chunk);
  return {
    status: reply.statusCode,
    type: reply.headers['content-type'],
    body: Buffer.concat(chunks),
  };
}

async function call(path: string, body: Buffer, headers: Record<string, string> = {}) {
  const session = connect(opened!.front.origin);
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc+proto',
    te: 'trailers',
    'agentci-run': opened!.front.token,
    ...headers,
  });
  let status: unknown;
  for (const event of ['response', 'trailers'] as const)
    stream.on(event, (seen: Record<string, unknown>) => {
      status = seen['grpc-status'] ?? status;
    });
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.end(body);
  await once(stream, 'close');
  session.close();
  return { status, body: Buffer.concat(chunks) };
}

/** One span of a tool, as protobuf. */
function protobuf(tool = 'lookup'): Buffer {
  const pbf = new PbfWriter();
  const attribute = (
    inner: PbfWriter,
    tag: number,
    [key, value]: readonly [string, string],
  ): void =>
    inner.writeMessage(
      tag,
      (_: unknown, pair) => {
        pair.writeStringField(1, key);
        pair.writeMessage(2, (__: unknown, any) => any.writeStringField(1, value), null);
      },
      null,
    );
  pbf.writeMessage(
    1,
    (_: unknown, resource) =>
      resource.writeMessage(
        2,
        (__: unknown, scope) =>
          scope.writeMessage(
            2,
            (___: unknown, span) => {
              span.writeBytesField(1, Buffer.alloc(16, 1));
              span.writeBytesField(2, Buffer.alloc(8, 2));
              span.writeStringField(5, 'execute_tool');
              attribute(span, 9, ['gen_ai.operation.name', 'execute_tool']);
              attribute(span, 9, ['gen_ai.tool.name', tool]);
            },
            null,
          ),
        null,
      ),
    null,
  );
  return Buffer.from(pbf.finish());
}

const toolsIn = ({ telemetry = [], gaps = [] }: Partial<Evidence>): readonly string[] => {
  const [item] = capturedTrace({
    exchanges: [],
    telemetry: telemetry.map((value) => ({ value })),
    gaps,
  });
  return item?.ok ? toolNames(item.trace) : [];
};
const spans = JSON.stringify(otlp([{ id: 'a', name: 'execute_tool lookup', attributes: TOOL }]));

/** Field names of protobuf. The keys of attributes are values. */
const snake = (text: string): string =>
  text.replace(
    /"(\w+)":/g,
    (_, key: string) => `"${key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}":`,
  );

describe('accepted requests', () => {
  it.each([
    ['JSON', '/v1/traces', spans, JSON_TYPE],
    [
      'JSON, packed with gzip',
      '/v1/traces',
      gzipSync(spans),
      { ...JSON_TYPE, 'content-encoding': 'gzip' },
    ],
    [
      'JSON, packed with deflate',
      '/v1/traces',
      deflateSync(spans),
      { ...JSON_TYPE, 'content-encoding': 'deflate' },
    ],
    ['protobuf', '/v1/traces', protobuf(), PROTOBUF],
    [
      'protobuf, packed',
      '/v1/traces',
      gzipSync(protobuf()),
      { ...PROTOBUF, 'content-encoding': 'gzip' },
    ],
    ['the endpoint itself', '', spans, JSON_TYPE],
    ['JSON with protobuf’s names', '/v1/traces', snake(spans), JSON_TYPE],
    ['a vendor’s longer path', '/api/public/otel/v1/traces', spans, JSON_TYPE],
  ])('%s', async (_, path, body, headers) => {
    const { plane } = await open();
    const reply = await post(path, body, headers);
    expect(reply.status).toBe(200);
    expect(reply.type).toBe(headers['content-type'].split(';')[0]);
    expect(reply.body.toString()).toBe(
      headers === PROTOBUF || 'content-encoding' in headers ? reply.body.toString() : '{}',
    );
    const evidence = await plane.end(SOON);
    expect(toolsIn(evidence)).toEqual(['lookup']);
    expect(evidence.gaps).toEqual([]);
  });

  it.each([
    ['protobuf at the endpoint itself', '', protobuf(), PROTOBUF, 404],
    ['a path that is not known', '/spans', spans, JSON_TYPE, 404],
    [
      'a list of spans without its request',
      '/v1/traces',
      '{"scopeSpans":[{"spans":[]}]}',
      JSON_TYPE,
      400,
    ],
  ])('%s is refused, and counted', async (_, path, body, headers, status) => {
    const { plane } = await open();
    expect((await post(path, body, headers)).status).toBe(status);
    expect((await plane.end(SOON)).gaps).toMatchObject([{ gap: 'spansLost' }]);
  });

  it.each([
    ['plain', framed(protobuf()), {}],
    ['packed', Object.assign(framed(gzipSync(protobuf())), { 0: 1 }), { 'grpc-encoding': 'gzip' }],
  ])('gRPC, %s', async (_, body, headers) => {
    const { plane } = await open();
    expect(await call(GRPC_TRACES, body, headers)).toEqual({
      status: '0',
      body: framed(Buffer.alloc(0)),
    });
    expect(toolsIn(await plane.end(SOON))).toEqual(['lookup']);
  });

  it('logs, which some instrumentations put messages in', async () => {
    const { plane } = await open();
    const logs = otlpLogs([
      { span: 'a', name: 'gen_ai.choice', body: { message: { content: 'hi' } }, at: 1 },
    ]);
    expect((await post('/v1/logs', JSON.stringify(logs))).status).toBe(200);
    expect((await plane.end(SOON)).telemetry).toHaveLength(1);
  });

  it('metrics, which are let go', async () => {
    const { plane } = await open();
    expect((await post('/v1/metrics', 'anything', PROTOBUF)).status).toBe(200);
    expect(
      (
        await call(
          '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
          framed(protobuf()),
        )
      ).status,
    ).toBe('0');
    expect(await plane.end(SOON)).toMatchObject({ telemetry: [], gaps: [] });
  });
});

describe('unreadable requests are reported, and never answered so that the exporter sends them again', () => {
  const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024, ' '));
  it.each([
    ['broken JSON', '/v1/traces', '{"resourceSpans":', JSON_TYPE, 400],
    ['JSON of another kind', '/v1/traces', '{"spans":[]}', JSON_TYPE, 400],
    [
      'JSON as deep as the sea',
      '/v1/traces',
      `{"resourceSpans":${'['.repeat(9000)}${']'.repeat(9000)}}`,
      JSON_TYPE,
      400,
    ],
    ['broken protobuf', '/v1/traces', Buffer.from([0x0a, 0x7f, 0x01]), PROTOBUF, 400],
    ['broken gzip', '/v1/traces', 'not gzip', { ...PROTOBUF, 'content-encoding': 'gzip' }, 400],
    ['a bomb', '/v1/traces', bomb, { ...JSON_TYPE, 'content-encoding': 'gzip' }, 413],
    ['an unknown packing', '/v1/traces', 'x', { ...PROTOBUF, 'content-encoding': 'zstd' }, 415],
    ['an unknown type', '/v1/traces', 'x', { 'content-type': 'text/plain' }, 415],
  ])('%s', async (_, path, body, headers, status) => {
    const { plane } = await open();
    expect((await post(path, body, headers as Record<string, string>)).status).toBe(status);
    const { gaps } = await plane.end(SOON);
    expect(gaps).toMatchObject([{ gap: 'spansLost' }]);
  });

  it.each([
    ['a damaged frame', GRPC_TRACES, Buffer.from([0, 0, 0, 0, 9, 1]), {}, '3'],
    [
      'a program without our header',
      GRPC_TRACES,
      framed(protobuf()),
      { 'agentci-run': 'other' },
      '16',
    ],
  ])('gRPC: %s', async (_, path, body, headers, status) => {
    const { plane } = await open();
    expect((await call(path, body, headers)).status).toBe(status);
    const evidence = await plane.end(SOON);
    expect(evidence.gaps).toMatchObject([{ gap: 'spansLost' }]);
    expect(toolsIn({ telemetry: evidence.telemetry ?? [] })).toEqual([]);
  });

  it('gRPC: another service is not known', async () => {
    await open();
    expect((await call('/grpc.health.v1.Health/Check', framed(Buffer.alloc(0)))).status).toBe('12');
  });
});

describe('memory', () => {
  const many = (from: number, count: number, attributes = {}) =>
    otlp(
      Array.from({ length: count }, (_, i) => ({ id: `s${from + i}`, name: 'GET /', attributes })),
    );

  it('holds nothing of spans that are not an agent’s, but the parents of those that are', async () => {
    const { plane } = await open();
    await post(
      '/v1/traces',
      JSON.stringify(otlp([{ id: 'tool', parent: 'inner', attributes: TOOL }])),
    );
    await post('/v1/traces', JSON.stringify(many(0, 500)));
    await post(
      '/v1/traces',
      JSON.stringify(otlp([{ id: 'inner', parent: 'outer' }, { id: 'outer' }])),
    );
    const { telemetry } = await plane.end(SOON);
    const names = JSON.stringify(telemetry).match(/"spanId"/g);
    expect(names).toHaveLength(3);
    const [item] = capturedTrace({
      exchanges: [],
      telemetry: telemetry!.map((value) => ({ value })),
    });
    expect(item!.ok && item!.trace.warnings).toEqual([]);
  });

  it('finds a parent that came first', async () => {
    const { plane } = await open();
    await post(
      '/v1/traces',
      JSON.stringify(otlp([{ id: 'inner', parent: 'outer' }, { id: 'outer' }])),
    );
    await post(
      '/v1/traces',
      JSON.stringify(otlp([{ id: 'tool', parent: 'inner', attributes: TOOL }])),
    );
    const { telemetry } = await plane.end(SOON);
    expect(JSON.stringify(telemetry).match(/"spanId"/g)).toHaveLength(3);
  });

  it('refuses items beyond its limit, and reports their number', async () => {
    const { plane } = await open({ limits: { maxKept: 3 } });
    const five = JSON.stringify(
      otlp([1, 2, 3, 4, 5].map((i) => ({ id: `t${i}`, attributes: TOOL }))),
    );
    const reply = await post('/v1/traces', five);
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.body.toString())).toMatchObject({
      partialSuccess: { rejectedSpans: '2' },
    });
    const again = await post('/v1/traces', protobuf(), PROTOBUF);
    const partial = new PbfReader(again.body).readFields<{ rejected?: number }>(
      (tag, into, pbf) => {
        if (tag === 1)
          pbf.readMessage((inner) => {
            if (inner === 1) into.rejected = pbf.readVarint();
          }, into);
      },
      {},
    );
    expect(partial.rejected).toBe(1);
    const { gaps } = await plane.end(SOON);
    expect(gaps).toEqual([{ gap: 'spansLost', detail: '3 beyond the limit of one query' }]);
  });
});

describe('whose spans they are', () => {
  it('those that began before the query belong to another', async () => {
    const { plane } = await open({ endsWithRun: false });
    plane.begin();
    // The spans of these tests began in January 2026.
    await post('/v1/traces', spans);
    const { telemetry, notes } = await plane.end(SOON);
    expect(telemetry).toEqual([]);
    expect(notes).toMatchObject([{ code: 'CAPTURE_LATE_SPANS' }]);
  });

  it('a span below the one that we, or the user’s own tracing, named as its parent is a root', async () => {
    const TRACEPARENT = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
    const { plane } = await open({}, { TRACEPARENT });
    expect(plane.environment().set).not.toHaveProperty('TRACEPARENT');
    const request = otlp([{ id: 'tool', attributes: TOOL }]);
    Object.assign(request.resourceSpans[0]!.scopeSpans[0]!.spans[0]!, {
      parentSpanId: 'cd'.repeat(8),
    });
    await post('/v1/traces', JSON.stringify(request));
    const [item] = capturedTrace({
      exchanges: [],
      telemetry: (await plane.end(SOON)).telemetry!.map((value) => ({ value })),
    });
    expect(item!.ok && item!.trace.warnings).toEqual([]);
  });
});

describe('the end of a query', () => {
  it.each([
    ['nothing came and the agent has ended: at once', { endsWithRun: true }, false, [0, 200]],
    [
      'nothing came and the agent stays: until it would have',
      { endsWithRun: false },
      false,
      [300, 900],
    ],
    ['spans came: until there is silence', { endsWithRun: true }, true, [250, 900]],
  ] as const)('%s', async (_, options, sends, [atLeast, atMost]) => {
    const { plane } = await open(options);
    if (sends) await post('/v1/traces', spans);
    const began = performance.now();
    await plane.end({ quietMs: 300, maxMs: 5000 });
    const took = performance.now() - began;
    expect(took).toBeGreaterThanOrEqual(atLeast - 20);
    expect(took).toBeLessThan(atMost);
  });

  it('an agent that does not know where spans go is not waited for', async () => {
    const { plane } = await open({ endsWithRun: false });
    const forever = { quietMs: 600_000, maxMs: 600_000 };
    expect(await plane.end({ ...forever, sendsSpans: false })).toMatchObject({ telemetry: [] });
  });

  it('an agent that stays and never sends is waited for once', async () => {
    const { plane } = await open({ endsWithRun: false });
    await plane.end({ quietMs: 300, maxMs: 5000 });
    plane.begin();
    const began = performance.now();
    await plane.end({ quietMs: 4000, maxMs: 8000 });
    expect(performance.now() - began).toBeLessThan(3000);
  });
});

describe('a collector of the user’s own', () => {
  const SECRET = 'sekrit-0123456789';

  it('gets a copy as it was sent, with the user’s headers, which are kept nowhere', async () => {
    const collector = await startChaos((_, response) => void response.end('{}'));
    onTestFinished(() => collector.close());
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/base`,
      OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${SECRET},x-other=two%20words`,
    };
    const { plane } = await open({}, env);
    await post('/v1/traces', spans);
    await post('/v1/metrics', protobuf(), PROTOBUF);
    const evidence = await plane.end(SOON);
    await plane.close();
    expect(collector.requests.map(({ path }) => path)).toEqual([
      '/base/v1/traces',
      '/base/v1/metrics',
    ]);
    expect(collector.requests[0]).toMatchObject({
      body: spans,
      headers: { 'x-api-key': SECRET, 'x-other': 'two words', 'content-type': 'application/json' },
    });
    expect(collector.requests[0]!.headers).not.toHaveProperty('agentci-run');
    expect(JSON.stringify([evidence, plane.environment(), plane.report()])).not.toContain(SECRET);
    expect(plane.environment().notes).toMatchObject([{ code: 'CAPTURE_COLLECTOR' }]);
  });

  it('gets gRPC if it uses gRPC', async () => {
    const seen: Record<string, unknown>[] = [];
    const server: Http2Server = createHttp2();
    server.on('stream', (stream, headers) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        seen.push({
          path: headers[':path'],
          key: headers['x-api-key'],
          body: Buffer.concat(chunks),
        });
        stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(framed(Buffer.alloc(0)));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { plane } = await open(
      {},
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: `x-api-key=${SECRET}`,
      },
    );
    await post('/v1/traces', protobuf(), PROTOBUF);
    await plane.close();
    expect(seen).toEqual([{ path: GRPC_TRACES, key: SECRET, body: framed(protobuf()) }]);
    expect(plane.report()).toMatchObject({ forwarded: 1 });
  });

  it.each([
    ['is not there', 'http://127.0.0.1:9'],
    ['hangs', undefined],
  ])('does not disturb the agent when it %s', async (_, address) => {
    const hanging = await startChaos(() => new Promise(() => {}));
    onTestFinished(() => hanging.close());
    const { plane } = await open(
      {},
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address ?? hanging.url },
    );
    const began = performance.now();
    expect((await post('/v1/traces', spans)).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(4000);
    const evidence = await plane.end(SOON);
    expect(toolsIn(evidence)).toEqual(['lookup']);
    if (address !== undefined)
      expect(evidence.notes).toMatchObject([{ code: 'CAPTURE_NOT_FORWARDED' }]);
  });
});
