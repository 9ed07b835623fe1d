import { toolCalls } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import type { TapEvidence } from '../mcp/tap-steps.ts';
import { capturedTrace } from './captured-trace.ts';

const AT = 1_767_603_600_000;

const tap = (server: string, ...calls: readonly (readonly [string, object])[]): TapEvidence => ({
  server,
  records: calls.flatMap(([name, args], id) => [
    {
      value: {
        ts: new Date(AT + 10 + id).toISOString(),
        dir: 'c2s',
        message: { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } },
      },
    },
    {
      value: {
        ts: new Date(AT + 11 + id).toISOString(),
        dir: 's2c',
        message: { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: server }] } },
      },
    },
  ]),
});

/** A reply that requests these calls, and the one after it. */
function exchanges(calls: readonly (readonly [string, object])[]) {
  const asks = {
    role: 'assistant',
    content: null,
    tool_calls: calls.map(([name, args], i) => ({
      id: `c${i}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    })),
  };
  const results = calls.map((_, i) => ({ role: 'tool', tool_call_id: `c${i}`, content: 'ok' }));
  const user = { role: 'user', content: 'hi' };
  const says = { role: 'assistant', content: 'Done.' };
  return [
    { messages: [user], message: asks, reason: 'tool_calls' },
    { messages: [user, asks, ...results], message: says, reason: 'stop' },
  ].map(({ messages, message, reason }, i) => ({
    value: {
      schema: 'agentci.exchange/1',
      run: 'r',
      i: i + 1,
      at: AT + i * 100,
      provider: 'openai',
      route: 'chat',
      method: 'POST',
      uri: 'https://api.openai.com/v1/chat/completions',
      request: JSON.stringify({ model: 'm', messages }),
      response: {
        status: 200,
        headers: {},
        chunks: [
          [
            0,
            JSON.stringify({
              id: `r${i}`,
              object: 'chat.completion',
              model: 'm',
              choices: [{ index: 0, message, finish_reason: reason }],
            }),
          ],
        ],
      },
      end_ms: 5,
      complete: true,
    },
  }));
}

const calls = (
  asked: readonly (readonly [string, object])[],
  taps: readonly TapEvidence[],
): string[] => {
  const [item] = capturedTrace({ exchanges: exchanges(asked), taps });
  if (item?.ok !== true) throw new Error(JSON.stringify(item));
  return toolCalls(item.trace).map(
    ({ server = '-', name, args }) => `${server} ${name} ${JSON.stringify(args)}`,
  );
};

describe('a call that a tap of an MCP server saw as well', () => {
  test.each([
    'lookup',
    'orders_lookup',
    'orders__lookup',
    'orders-lookup',
    'orders.lookup',
    'orders/lookup',
    'orders:lookup',
    'mcp_orders_lookup',
    'mcp__orders__lookup',
    'mcp-orders-lookup',
    'Orders_lookup',
  ])('is one call when the model knows it as %s', (name) => {
    expect(calls([[name, { id: 1 }]], [tap('orders', ['lookup', { id: 1 }])])).toEqual([
      'orders lookup {"id":1}',
    ]);
  });

  test('is one call when its server has characters that a name may not have', () => {
    expect(calls([['my_orders_v2_look_up', {}]], [tap('my-orders (v2)', ['look-up', {}])])).toEqual(
      ['my-orders (v2) look-up {}'],
    );
  });

  test('belongs to its server if two have a tool of that name', () => {
    expect(
      calls(
        [
          ['b_search', {}],
          ['a_search', {}],
        ],
        [tap('a', ['search', {}]), tap('b', ['search', {}])],
      ),
    ).toEqual(['b search {}', 'a search {}']);
  });

  test.each([
    {
      when: 'the model asks for the bare name too',
      asked: [['orders_lookup', {}] as const, ['lookup', {}] as const],
      taps: [tap('orders', ['lookup', {}])],
      count: 2,
    },
    {
      when: 'its name could be of two servers',
      asked: [['a_b_c', {}] as const],
      taps: [tap('a', ['b_c', {}]), tap('a_b', ['c', {}])],
      count: 3,
    },
    {
      when: 'the tool of the server has another name',
      asked: [['orders_refund', {}] as const],
      taps: [tap('orders', ['lookup', {}])],
      count: 2,
    },
  ])('stays another call when $when', ({ asked, taps, count }) => {
    expect(calls(asked, taps)).toHaveLength(count);
  });
});
