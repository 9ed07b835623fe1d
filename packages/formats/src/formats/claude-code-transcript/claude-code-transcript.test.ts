import type { Trace } from '@agentci/trace';
import { toolCalls } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { readTraces } from '../../reader/read-traces.ts';

const lines = (...values: readonly object[]): string =>
  values.map((value) => JSON.stringify(value)).join('\n');

async function traceOf(recording: string): Promise<Trace> {
  const traces: Trace[] = [];
  for await (const trace of readTraces(Buffer.from(recording))) traces.push(trace);
  expect(traces).toHaveLength(1);
  return traces[0]!;
}

describe('Claude Code transcripts', () => {
  const line = (
    uuid: string,
    parentUuid: string | null,
    type: string,
    content: unknown,
    more: object = {},
  ) => ({
    type,
    uuid,
    parentUuid,
    sessionId: 's',
    timestamp: '2026-05-01T10:00:00.000Z',
    isSidechain: false,
    message: {
      role: type,
      ...(type === 'assistant' ? { id: `m-${uuid}`, type: 'message', model: 'claude' } : {}),
      content,
    },
    ...more,
  });
  const use = (id: string, name: string) => [{ type: 'tool_use', id, name, input: {} }];
  const gave = (id: string) => [{ type: 'tool_result', tool_use_id: id, content: 'ok' }];
  const DONE = [{ type: 'text', text: 'Done.' }];

  test.each([
    {
      when: 'a side chain cannot be linked',
      recording: lines(
        line('u1', null, 'user', 'hi'),
        line('x1', null, 'user', 'Look around.', { isSidechain: true, agentId: 'a9' }),
        line('x2', 'x1', 'assistant', use('c1', 'delete_all'), {
          isSidechain: true,
          agentId: 'a9',
        }),
        line('x3', 'x2', 'user', gave('c1'), { isSidechain: true, agentId: 'a9' }),
        line('u2', 'u1', 'assistant', DONE),
      ),
      names: ['delete_all'],
      level: 'partial',
    },
    {
      when: 'a parentUuid leads nowhere',
      recording: lines(
        line('u1', null, 'user', 'hi'),
        line('u2', 'u1', 'assistant', use('c1', 'delete_all')),
        line('u3', 'u2', 'user', gave('c1')),
        line('u5', 'u4', 'assistant', DONE),
      ),
      names: ['delete_all'],
      level: 'partial',
    },
    {
      when: 'a branch was rewound',
      recording: lines(
        line('u1', null, 'user', 'hi'),
        line('u2', 'u1', 'assistant', use('c1', 'delete_all')),
        line('u3', 'u2', 'user', gave('c1')),
        line('v1', null, 'user', 'hi again'),
        line('v2', 'v1', 'assistant', DONE),
      ),
      names: ['delete_all'],
      level: 'full',
    },
    {
      when: 'progress lines without a session are part of the chain',
      recording: lines(
        line('u1', null, 'user', 'hi'),
        line('u2', 'u1', 'assistant', use('c1', 'delete_all')),
        line('u3', 'u2', 'user', gave('c1')),
        { type: 'progress', uuid: 'p1', parentUuid: 'u3', data: {} },
        line('u4', 'p1', 'assistant', DONE),
      ),
      names: ['delete_all'],
      level: 'full',
    },
    {
      when: 'a call is on a line marked as meta',
      recording: lines(
        line('u1', null, 'user', 'hi'),
        line('u2', 'u1', 'assistant', use('c1', 'delete_all'), { isMeta: true }),
        line('u3', 'u2', 'user', gave('c1'), { isMeta: true }),
        line('u4', 'u3', 'assistant', DONE),
      ),
      names: ['delete_all'],
      level: 'full',
    },
  ])('show every call where $when', async ({ recording, names, level }) => {
    const trace = await traceOf(recording);
    expect(toolCalls(trace).map(({ name }) => name)).toEqual(names);
    expect(trace.captured.toolCalls).toBe(level);
    expect(trace.final?.text).toBe('Done.');
  });

  test('have the question of the final branch', async () => {
    const trace = await traceOf(
      lines(
        line('u1', null, 'user', 'old'),
        line('u2', 'u1', 'assistant', DONE),
        line('v1', null, 'user', 'new'),
        line('v2', 'v1', 'assistant', DONE),
      ),
    );
    expect(trace.task?.input).toMatchObject([{ parts: [{ text: 'new' }] }]);
  });
});
