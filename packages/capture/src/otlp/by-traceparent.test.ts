import { request as httpRequest, type IncomingMessage } from 'node:http';
import { otlp } from '@agentci/testing/otlp';
import { toolNames } from '@agentci/trace';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CaptureNote } from '../plane.ts';
import { receiveByTraceparent } from './by-traceparent.ts';

const TOOL = (name: string) => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': name,
});
const SERVER = { 'http.request.method': 'POST' };
const ELSEWHERE = `00-${'9'.repeat(32)}-${'8'.repeat(16)}-01`;

async function receiver(notes: CaptureNote[] = []) {
  const patience = { quietMs: 30, maxMs: 400 };
  const opened = await receiveByTraceparent({
    port: 0,
    patience,
    onNote: (note) => notes.push(note),
  });
  onTestFinished(() => opened.close());
  return opened;
}

type Sent = readonly [attributes: Record<string, string>, traceparent: string, below?: string];

/** Sends spans in the trace of a header, below the header's span unless another is given. */
async function send(origin: string, given: readonly Sent[]): Promise<number> {
  const request = otlp(given.map(([attributes], i) => ({ id: `s${i}`, attributes })));
  for (const [i, span] of request.resourceSpans[0]!.scopeSpans[0]!.spans.entries()) {
    const [, traceId, parentSpanId] = given[i]![1].split('-');
    const at = `${Date.now()}000000`;
    Object.assign(span, {
      traceId,
      parentSpanId: given[i]![2] ?? parentSpanId,
      startTimeUnixNano: at,
      endTimeUnixNano: at,
    });
  }
  const headers = { 'content-type': 'application/json' };
  return (
    await fetch(`${origin}/v1/traces`, { method: 'POST', headers, body: JSON.stringify(request) })
  ).status;
}

const codes = (warnings: readonly { code: string }[] = []) => warnings.map(({ code }) => code);

describe('spans of an agent that many queries share', () => {
  it('belong to the query whose trace they continue', async () => {
    const { origin, open } = await receiver();
    const [a, b] = [open(), open()];
    await send(origin, [
      [TOOL('dig'), a.headers.traceparent!],
      [TOOL('fill'), b.headers.traceparent!],
      // A server also does work that does not concern agents.
      [SERVER, ELSEWHERE],
    ]);
    const [first, second] = await Promise.all([a.end(), b.end()]);
    expect([first, second].map(({ trace }) => toolNames(trace!))).toEqual([['dig'], ['fill']]);
    expect([...first.trace!.warnings, ...first.warnings]).toEqual([]);
  });

  it('are waited for until the span of the whole request has come, which ends last', async () => {
    const { origin, open } = await receiver();
    const slot = open();
    const ended = slot.end();
    await send(origin, [[TOOL('dig'), slot.headers.traceparent!, 's1s1s1s1']]);
    await new Promise((resolve) => setTimeout(resolve, 150));
    await send(origin, [[TOOL('fill'), slot.headers.traceparent!]]);
    expect(toolNames((await ended).trace!)).toEqual(['dig', 'fill']);
  });

  it('without that span may not be all: calls are partly known', async () => {
    const { origin, open } = await receiver();
    const slot = open();
    await send(origin, [[TOOL('dig'), slot.headers.traceparent!, 's1s1s1s1']]);
    const { trace } = await slot.end();
    expect(codes(trace!.warnings)).toContain('SPANS_NOT_WHOLE');
    expect(trace!.captured).toMatchObject({ toolCalls: 'partial' });
  });

  it('that continue no trace are attributed to none', async () => {
    const { origin, open } = await receiver();
    const slot = open();
    await send(origin, [[TOOL('dig'), ELSEWHERE]]);
    const { trace, warnings } = await slot.end();
    expect(trace).toBeUndefined();
    expect(codes(warnings)).toEqual(['CAPTURE_NOT_ATTRIBUTABLE', 'CAPTURE_NOTHING']);
  });

  it('that continue no trace may belong to another query: its calls are partly known', async () => {
    const { origin, open } = await receiver();
    const slot = open();
    await send(origin, [
      [TOOL('dig'), slot.headers.traceparent!],
      [TOOL('refund'), ELSEWHERE],
    ]);
    const { trace } = await slot.end();
    expect(toolNames(trace!)).toEqual(['dig']);
    expect(trace!.warnings).toMatchObject([
      { code: 'CAPTURE_NOT_ATTRIBUTABLE', message: expect.stringContaining('1 ') },
    ]);
    expect(trace!.captured).toMatchObject({
      toolCalls: 'partial',
      llmCalls: expect.not.stringMatching('full'),
    });
  });

  it('of a query that was given up belong to no other, and are reported as late', async () => {
    const notes: CaptureNote[] = [];
    const { origin, open } = await receiver(notes);
    const [lost, next] = [open(), open()];
    lost.close();
    await send(origin, [
      [TOOL('dig'), lost.headers.traceparent!],
      [TOOL('fill'), next.headers.traceparent!],
    ]);
    const { trace } = await next.end();
    expect(toolNames(trace!)).toEqual(['fill']);
    expect(trace!.captured.toolCalls).toBe('full');
    expect(codes(notes)).toEqual(['CAPTURE_LATE_SPANS']);
  });

  it('that came late once are waited for as long as there is time', async () => {
    const { origin, open } = await receiver();
    const [lost, next] = [open(), open()];
    lost.close();
    await send(origin, [
      [TOOL('dig'), lost.headers.traceparent!],
      [TOOL('fill'), next.headers.traceparent!],
    ]);
    const ended = next.end();
    await new Promise((resolve) => setTimeout(resolve, 200));
    await send(origin, [[TOOL('refund'), next.headers.traceparent!]]);
    expect(toolNames((await ended).trace!)).toEqual(['fill', 'refund']);
  });

  it('that could not be read may have been those of a query', async () => {
    const { origin, open } = await receiver();
    const slot = open();
    await send(origin, [[TOOL('dig'), slot.headers.traceparent!]]);
    await fetch(`${origin}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{',
    });
    expect(codes((await slot.end()).trace!.warnings)).toEqual(['SPANS_NOT_KEPT']);
  });
});

describe('a server that sends nothing', () => {
  it('is reported with the variables to set', async () => {
    const { origin, open } = await receiver();
    const { trace, warnings } = await open().end();
    expect(trace).toBeUndefined();
    expect(warnings).toMatchObject([{ code: 'CAPTURE_NOTHING' }]);
    expect(warnings[0]!.message).toContain(
      `OTEL_EXPORTER_OTLP_ENDPOINT=${origin} and OTEL_BSP_SCHEDULE_DELAY=200`,
    );
  });

  it('is waited for in full once', async () => {
    const { open } = await receiver();
    const time = async () => {
      const began = performance.now();
      await open().end();
      return performance.now() - began;
    };
    expect(await time()).toBeGreaterThanOrEqual(390);
    expect(await time()).toBeLessThan(300);
  });

  it('or nothing about an agent, is reported', async () => {
    const { origin, open } = await receiver();
    const slot = open();
    await send(origin, [[SERVER, slot.headers.traceparent!]]);
    const { warnings } = await slot.end();
    expect(warnings).toMatchObject([
      { code: 'CAPTURE_NOTHING', message: expect.stringContaining('no model and no tool') },
    ]);
  });
});

describe('the address', () => {
  const status = (origin: string, headers: Record<string, string>) =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(`${origin}/v1/traces`, { method: 'POST', headers });
      sent.on('error', reject);
      sent.on('response', (reply: IncomingMessage) => resolve(reply.resume().statusCode));
      sent.end('{"resourceSpans":[]}');
    });

  it.each([
    ['its own', (host: string) => ({ host }), 200],
    [
      'this machine by name',
      (host: string) => ({ host: host.replace('127.0.0.1', 'localhost') }),
      200,
    ],
    ['another name', () => ({ host: 'evil.example' }), 403],
    ['a web page', (host: string) => ({ host, origin: 'http://evil.example' }), 403],
  ])('asked for as %s', async (_, headers, expected) => {
    const { origin } = await receiver();
    const given = { 'content-type': 'application/json', ...headers(new URL(origin).host) };
    expect(await status(origin, given)).toBe(expected);
  });

  it('in use is reported in one sentence, with the way out', async () => {
    const { origin } = await receiver();
    const port = Number(new URL(origin).port);
    await expect(receiveByTraceparent({ port })).rejects.toMatchObject({
      code: 'PORT_TAKEN',
      message: `spans cannot be received on 127.0.0.1:${port}: another program uses this port`,
      hint: expect.stringContaining('capture: {otlp:'),
    });
  });
});
