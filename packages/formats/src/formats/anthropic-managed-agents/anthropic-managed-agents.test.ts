import { readOne } from '@agentci/testing/read-all';
import { toolCalls, toolNames } from '@agentci/trace';
import { expect, test } from 'vitest';

const event = (type: string, id: string, more: object = {}) => ({
  type,
  id,
  processed_at: '2026-07-07T09:00:00Z',
  ...more,
});
const call = event('agent.tool_use', 't1', { name: 'bash', input: { command: 'ls' } });
const idle = event('session.status_idle', 'i1', { stop_reason: { type: 'end_turn' } });

test('a page of events is one run', async () => {
  expect(toolNames(await readOne({ data: [call, idle], has_more: false }))).toEqual(['bash']);
});

test.each([
  ['the session still runs', [event('session.status_running', 'r'), call]],
  [
    'it waits for a call that is not there',
    [
      call,
      event('session.status_idle', 'i', {
        stop_reason: { type: 'requires_action', event_ids: ['t9'] },
      }),
    ],
  ],
  [
    'the start of a model request is missing',
    [event('span.model_request_end', 'e', { model_request_start_id: 's9' }), call, idle],
  ],
  [
    'a result has no call',
    [event('agent.tool_result', 'x', { tool_use_id: 't9', content: [] }), call, idle],
  ],
  [
    'another thread was started',
    [event('session.thread_created', 'c', { session_thread_id: 'sthr_2' }), call, idle],
  ],
  ['an event is of an unknown kind', [event('agent.computer_action', 'k'), call, idle]],
])('calls are partly known where %s', async (_, events) => {
  expect((await readOne(events)).captured.toolCalls).toBe('partial');
});

test('an event that is sent and streamed back counts once, and one that is only sent counts too', async () => {
  const said = { type: 'user.message', content: [{ type: 'text', text: 'hi' }] };
  const sent = ['client.beta.sessions.events.send', ['sesn_1', { events: [said] }]];
  const stream = (value: object) => ['client.beta.sessions.events.stream', value];
  const twice = await readOne([sent, stream({ ...said, id: 'u1' }), stream(call), stream(idle)]);
  const once = await readOne([sent, stream(call), stream(idle)]);
  for (const trace of [twice, once]) expect(trace.task?.input).toHaveLength(1);
  expect(toolCalls(once)).toHaveLength(1);
});
