import { readOne } from '@agentci/testing/read-all';
import { handoffs, toolCalls, toolNames } from '@agentci/trace';
import { expect, test } from 'vitest';

const at = { timestamp: '2026-01-09T12:00:00' };
const asked = {
  id: 0,
  ...at,
  source: 'user',
  action: 'message',
  args: { content: 'q' },
  message: 'q',
};

test('an observation without its action is a call that is not named, and calls are partly known', async () => {
  const trace = await readOne([
    asked,
    { id: 4, ...at, source: 'agent', cause: 3, observation: 'run', content: 'x', extras: {} },
  ]);
  expect([toolCalls(trace).length, trace.captured.toolCalls]).toEqual([1, 'partial']);
});

test('a reply shows calls without an event', async () => {
  const model_response = {
    id: 'r1',
    choices: [
      {
        message: {
          role: 'assistant',
          content: '',
          tool_calls: ['a', 'b'].map((id) => ({
            id,
            type: 'function',
            function: { name: `tool_${id}`, arguments: '{}' },
          })),
        },
      },
    ],
  };
  const metadata = { function_name: 'tool_a', tool_call_id: 'a', model_response };
  const trace = await readOne([
    asked,
    { id: 1, ...at, source: 'agent', action: 'run', args: {}, tool_call_metadata: metadata },
  ]);
  expect(toolNames(trace)).toEqual(['tool_a', 'tool_b']);
});

test('a call the user rejected was denied, and a delegate is a handoff', async () => {
  const trace = await readOne([
    asked,
    { id: 1, ...at, source: 'agent', action: 'run', args: { command: 'rm -rf /' }, message: '' },
    {
      id: 2,
      ...at,
      source: 'user',
      cause: 1,
      observation: 'user_rejected',
      content: 'no',
      extras: {},
    },
    {
      id: 3,
      ...at,
      source: 'agent',
      action: 'delegate',
      args: { agent: 'BrowsingAgent', inputs: {} },
      message: '',
    },
  ]);
  expect(toolCalls(trace)[0]).toMatchObject({ name: 'run', status: 'denied' });
  expect(handoffs(trace)).toMatchObject([{ to: 'BrowsingAgent' }]);
});

test('an event of the SDK of an unknown kind may be a call', async () => {
  const message = {
    kind: 'MessageEvent',
    ...at,
    source: 'agent',
    llm_message: { role: 'assistant', content: 'hi' },
  };
  const trace = await readOne([message, { kind: 'RemoteToolEvent', ...at, source: 'agent' }]);
  expect(trace.captured.toolCalls).toBe('partial');
});
