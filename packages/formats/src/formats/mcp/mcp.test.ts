import { describeOutside } from '@agentci/testing/outside';
import vectors from '@agentci/testing/vectors/policy.json' with { type: 'json' };
import { toolCalls, toolNames } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import type { AdapterItem } from '../../adapter.ts';
import { readTraceItems } from '../../reader/read-traces.ts';
import { adapter as mcp } from './mcp.ts';

async function read(source: string | object, options = {}): Promise<AdapterItem> {
  const input = typeof source === 'string' ? source : Buffer.from(JSON.stringify(source));
  const items: AdapterItem[] = [];
  for await (const item of readTraceItems(input, options)) items.push(item);
  expect(items).toHaveLength(1);
  return items[0]!;
}
const trace = async (source: string | object) => {
  const item = await read(source);
  if (!item.ok) throw new Error(item.problem.message);
  return item.trace;
};
const request = (id: unknown, name = 'T', params = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: { x: 1 }, ...params },
});
const response = (id: unknown, result: object = { ok: true }) => ({ jsonrpc: '2.0', id, result });

interface Row {
  id: string;
  input: { messages?: object[]; fixture?: string };
  expected: {
    error?: true;
    calls?: (string | { tool: string; error?: string })[];
    orphan_responses?: number;
  };
}
const rows = (vectors.filter(({ kind }) => kind === 'mcp.import') as unknown as Row[]).filter(
  ({ input }) => input.messages,
);

test.each(rows)('$id', async ({ input, expected }) => {
  const item = await read(input.messages!);
  if (expected.error) {
    expect(item).toMatchObject({ ok: false, problem: { code: 'TRACE_BAD_FIELD', line: 1 } });
    return;
  }
  if (!item.ok) throw new Error(item.problem.message);
  const wanted = expected.calls!.map((call) => (typeof call === 'string' ? { tool: call } : call));
  expect(toolNames(item.trace)).toEqual(wanted.map(({ tool }) => tool));
  for (const [i, { error }] of wanted.entries())
    if (error !== undefined)
      expect(toolCalls(item.trace)[i]).toMatchObject({
        status: 'error',
        error: { message: error },
      });
  if (expected.orphan_responses !== undefined)
    expect(item.trace.meta.orphan_responses).toBe(expected.orphan_responses);
});

describe('transcripts', () => {
  test.each([
    ['events', { events: [request(1), response(1)] }],
    ['messages', { messages: [request(1), response(1)] }],
    [
      'wrapped events',
      {
        events: [
          { timestamp: '2026-01-01T00:00:00Z', message: request(1) },
          { timestamp: '2026-01-01T00:00:01Z', message: response(1) },
        ],
      },
    ],
    [
      'history',
      [
        {
          id: 'h',
          timestamp: '2026-01-01T00:00:00Z',
          direction: 'out',
          message: request(1),
          response: response(1),
        },
      ],
    ],
  ])('an Inspector log with %s', async (_, log) => {
    const found = await trace(log);
    expect(found.source.format).toBe('mcp');
    expect(toolCalls(found)).toMatchObject([
      { name: 'T', args: { x: 1 }, status: 'ok', result: { ok: true } },
    ]);
  });

  test.each([
    ['two calls with one id wait at once', [request(1), request(1)], 'TRACE_BAD_FIELD'],
    ['an id that is true', [request(true)], 'TRACE_BAD_FIELD'],
    ['a call without a name', [request(1, '')], 'TRACE_BAD_FIELD'],
    [
      'no call at all',
      [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }, response(1, { tools: [] })],
      'TRACE_NO_RECORDINGS',
    ],
  ])('%s is refused', async (_, messages, code) => {
    expect(await read(messages)).toMatchObject({ ok: false, problem: { code } });
  });

  test('the first response wins, the second is an orphan', async () => {
    const found = await trace([
      request(1),
      response(1, { content: [{ type: 'text', text: 'one' }] }),
      response(1, {}),
    ]);
    expect(toolCalls(found)).toMatchObject([{ result: 'one' }]);
    expect(found.warnings).toMatchObject([{ code: 'MCP_ORPHAN_RESPONSE' }]);
  });

  test('a call that waits for input and its retry are one call', async () => {
    const found = await trace([
      request(1, 'pay'),
      response(1, { resultType: 'input_required' }),
      request(2, 'pay', { inputResponses: {} }),
      response(2, { content: [{ type: 'text', text: 'paid' }] }),
    ]);
    expect(toolCalls(found)).toMatchObject([{ name: 'pay', status: 'ok', result: 'paid' }]);
  });

  test('messages with times stand in the order of their times', async () => {
    const at = (timestamp_ms: number, message: object) => ({ timestamp_ms, request: message });
    const found = await trace({
      transport: 'streamable-http',
      entries: [at(5, request(1, 'late')), at(1, request(2, 'early'))],
    });
    expect(toolNames(found)).toEqual(['early', 'late']);
  });

  test('other JSON-RPC protocols are not claimed', () => {
    expect(mcp.detect([{ jsonrpc: '2.0', id: 1, method: 'session/new', params: {} }])).toBe(0);
  });
});

describeOutside('recordings of the original program', 'traces/mcp/', (folder) => {
  test.each([
    ['correlation-id-type-collision.json', ['Calc', 'Calc'], ['ok', 'ok']],
    [
      'inspector_edge_case.json',
      ['valid_tool', 'orphan_request', 'complex_tool'],
      ['ok', 'error', 'ok'],
    ],
    ['legacy-missing-result-type.json', ['Calc'], ['ok']],
    ['modern-complete.json', ['Calc'], ['ok']],
    ['modern-input-required.json', ['Calc'], ['pending']],
    ['stdio-tee.jsonl', ['get_weather', 'fail_tool', 'nope'], ['ok', 'error', 'error']],
    ['traceparent-present.json', ['Calc'], ['ok']],
  ])('%s', async (file, names, statuses) => {
    const found = await trace(`${folder}${file}`);
    expect(found.source.format).toBe('mcp');
    expect(toolNames(found)).toEqual(names);
    expect(toolCalls(found).map(({ status }) => status)).toEqual(statuses);
  });

  test('asi-edge: arguments, server, tools and the missing answer', async () => {
    const found = await trace(`${folder}inspector_edge_case.json`);
    expect(toolCalls(found)[2]?.args).toEqual({
      active: true,
      user: { name: 'Alice', roles: ['admin', 'editor'] },
    });
    expect(toolCalls(found)[1]).toMatchObject({ error: { message: 'timeout/no_response' } });
    const tap = await trace(`${folder}stdio-tee.jsonl`);
    expect(tap.tools?.map(({ name }) => name)).toEqual(['get_weather', 'fail_tool']);
    expect(toolCalls(tap)[0]).toMatchObject({
      server: 'weather',
      result: { city: 'Paris', temp: 18 },
    });
  });
});
