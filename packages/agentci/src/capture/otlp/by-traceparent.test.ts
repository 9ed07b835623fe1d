import { describe, expect, it, onTestFinished } from 'vitest';
import { otlp } from '../../../test/support/otlp.ts';
import { toolNames } from '../../trace/selectors.ts';
import { receiveByTraceparent } from './by-traceparent.ts';

const TOOL = (name: string) => ({ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name });

async function receiver() {
  const opened = await receiveByTraceparent({ port: 0 });
  onTestFinished(() => opened.close());
  return opened;
}

/** Sends spans of tools, each of the trace and below the span that a header names. */
async function send(port: number, tools: readonly (readonly [name: string, traceparent: string])[]): Promise<number> {
  const request = otlp(tools.map(([name], i) => ({ id: `s${i}`, attributes: TOOL(name) })));
  for (const [i, span] of request.resourceSpans[0]!.scopeSpans[0]!.spans.entries()) {
    const [, traceId, parentSpanId] = tools[i]![1].split('-');
    Object.assign(span, { traceId, parentSpanId });
  }
  const url = `http://127.0.0.1:${port}/v1/traces`;
  const headers = { 'content-type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) })).status;
}

describe('spans of an agent that many queries share', () => {
  it('belong to the query whose trace they continue', async () => {
    const { port, open } = await receiver();
    const [a, b] = [open(), open()];
    await send(port, [
      ['dig', a.headers.traceparent!],
      ['fill', b.headers.traceparent!],
      ['lost', `00-${'9'.repeat(32)}-${'8'.repeat(16)}-01`],
    ]);
    const [first, second] = await Promise.all([a.end(), b.end()]);
    expect([first, second].map(({ trace }) => toolNames(trace!))).toEqual([['dig'], ['fill']]);
    expect(first.trace!.warnings).toEqual([]);
  });

  it('that continue none are not attributable', async () => {
    const { port, open } = await receiver();
    const slot = open();
    await send(port, [['dig', `00-${'9'.repeat(32)}-${'8'.repeat(16)}-01`]]);
    const { trace, warnings } = await slot.end();
    expect(trace).toBeUndefined();
    expect(warnings.map(({ code }) => code)).toEqual(['CAPTURE_NOT_ATTRIBUTABLE', 'CAPTURE_NOTHING']);
  });

  it('are not taken from web pages', async () => {
    const { port } = await receiver();
    const reply = await fetch(`http://127.0.0.1:${port}/v1/traces`, {
      method: 'POST',
      headers: { origin: 'http://evil.example' },
    });
    expect(reply.status).toBe(403);
  });

  it('need a port that is free', async () => {
    const { port } = await receiver();
    await expect(receiveByTraceparent({ port })).rejects.toMatchObject({ code: 'CAPTURE_PORT' });
  });
});
