import { readOne } from '@agentci/testing/read-all';
import { toolCalls, toolNames } from '@agentci/trace';
import { describe, expect, test } from 'vitest';

const lines = (...values: readonly object[]): string =>
  values.map((value) => JSON.stringify(value)).join('\n');
const head = {
  sessionId: 's1',
  projectHash: 'h',
  startTime: '2026-04-02T07:00:00Z',
  lastUpdated: '2026-04-02T07:00:00Z',
};
const at = { timestamp: '2026-04-02T07:01:00Z' };
const session = (...toolCalls: readonly object[]) => ({
  ...head,
  messages: [{ id: 'm1', ...at, type: 'gemini', content: '', toolCalls }],
});

describe('a session of Gemini CLI', () => {
  test('a sub-agent keeps its own session, so the calls are partly known', async () => {
    for (const call of [
      { id: 'c', name: 'investigator', args: {}, status: 'success', agentId: 'a1' },
      {
        id: 'c',
        name: 'investigator',
        args: {},
        status: 'success',
        resultDisplay: 'Subagent investigator Finished',
      },
      { id: 'c', name: 'invoke_agent', args: { agent_name: 'x' }, status: 'success' },
    ]) {
      const trace = await readOne(session(call));
      expect(trace.captured.toolCalls).toBe('partial');
      expect(trace.warnings).toMatchObject([{ code: 'SUBAGENT_UNLINKED' }]);
    }
  });

  test('a call that has not ended is pending', async () => {
    const trace = await readOne(session({ id: 'c', name: 'sleep', args: {}, status: 'executing' }));
    expect(toolCalls(trace)).toMatchObject([{ name: 'sleep', status: 'pending' }]);
  });

  test('calls in the content and next to it count once', async () => {
    const call = { id: 'c1', name: 'dig', args: { depth: 2 } };
    const trace = await readOne({
      ...head,
      messages: [
        {
          id: 'm1',
          ...at,
          type: 'gemini',
          content: [{ functionCall: call }],
          toolCalls: [{ ...call, status: 'success' }],
        },
        {
          id: 'm2',
          ...at,
          type: 'user',
          content: [{ functionResponse: { id: 'c1', name: 'dig', response: { output: 'ok' } } }],
        },
      ],
    });
    expect(toolNames(trace)).toEqual(['dig']);
  });

  test('a tool that the session names and no message calls is a gap', async () => {
    const trace = await readOne({
      ...session(),
      memoryScratchpad: { version: 1, toolSequence: ['dig'] },
    });
    expect(trace.captured.toolCalls).toBe('partial');
  });
});

describe('events of stream-json', () => {
  const init = { type: 'init', ...at, session_id: 's', model: 'm' };
  const call = { type: 'tool_use', ...at, tool_name: 'dig', tool_id: 't1', parameters: {} };
  test('a stream without its end is incomplete and its calls are partly known', async () => {
    const trace = await readOne(lines(init, call));
    expect([trace.status, trace.captured.toolCalls]).toEqual(['incomplete', 'partial']);
  });
  test('more calls counted than shown is a gap', async () => {
    const end = { type: 'result', ...at, status: 'success', stats: { tool_calls: 2 } };
    expect((await readOne(lines(init, call, end))).captured.toolCalls).toBe('partial');
  });
});

test('a recorded reply that stops before its reason to end is cut off', async () => {
  const piece = {
    candidates: [
      { content: { role: 'model', parts: [{ functionCall: { name: 'dig', args: {} } }] } },
    ],
  };
  const trace = await readOne(lines({ method: 'generateContentStream', response: [piece] }));
  expect([toolNames(trace), trace.captured.toolCalls]).toEqual([['dig'], 'partial']);
});
