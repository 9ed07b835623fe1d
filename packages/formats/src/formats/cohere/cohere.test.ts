import { readOne } from '@agentci/testing/read-all';
import { finalText, toolNames } from '@agentci/trace';
import { expect, test } from 'vitest';

const start = { type: 'message-start', id: 'm1', delta: { message: { role: 'assistant' } } };
const call = {
  type: 'tool-call-start',
  index: 0,
  delta: { message: { tool_calls: { id: 'c', function: { name: 'dig', arguments: '{}' } } } },
};
const end = { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } };

test('a stream shows its calls, which are partial without its end', async () => {
  const whole = await readOne([start, call, end]);
  const cut = await readOne([start, call]);
  expect([whole, cut].map((trace) => [toolNames(trace), trace.captured.toolCalls])).toEqual([
    [['dig'], 'full'],
    [['dig'], 'partial'],
  ]);
});

test('a reply that ended in order to call a tool and shows none is a gap', async () => {
  expect((await readOne([start, end])).captured.toolCalls).toBe('partial');
});

test('a stream of version 1 ends with the whole reply', async () => {
  const trace = await readOne([
    { event_type: 'stream-start', generation_id: 'g', is_finished: false },
    { event_type: 'text-generation', text: 'Hel', is_finished: false },
    {
      event_type: 'stream-end',
      is_finished: true,
      finish_reason: 'COMPLETE',
      response: { text: 'Hello.', response_id: 'r' },
    },
  ]);
  expect([trace.source.format, finalText(trace)]).toEqual(['cohere', 'Hello.']);
});
