import { toolNames } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { readTraceItems } from './read-traces.ts';

async function read(value: unknown, format?: string) {
  const items = [];
  for await (const item of readTraceItems(
    new TextEncoder().encode(JSON.stringify(value)),
    format ? { format } : {},
  ))
    items.push(item);
  return items;
}

const line = (uuid: string, parentUuid: string | null, type: string, content: unknown) => ({
  parentUuid,
  sessionId: 's1',
  uuid,
  type,
  timestamp: '2026-05-04T08:00:00Z',
  message: {
    role: type,
    content,
    ...(type === 'assistant' ? { id: `m-${uuid}`, model: 'm', stop_reason: 'end_turn' } : {}),
  },
});
const loglines = [
  line('a', null, 'user', 'Tidy up.'),
  line('b', 'a', 'assistant', [
    { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'rm x' } },
  ]),
  line('c', 'b', 'user', [{ type: 'tool_result', tool_use_id: 't1', content: 'done' }]),
  line('d', 'c', 'assistant', [{ type: 'text', text: 'Done.' }]),
];

describe('lines of a format in a wrapper list', () => {
  test.each(['loglines', 'items', 'anything'])('under "%s" are read', async (key) => {
    const [item] = await read({ [key]: loglines, title: 'x' });
    expect(item).toMatchObject({
      ok: true,
      trace: { source: { format: 'claude-code-transcript' } },
    });
    expect(item?.ok && toolNames(item.trace)).toEqual(['Bash']);
    expect(item?.ok && item.trace.captured.toolCalls).toBe('full');
  });

  test('next to another list that may contain calls are partial', async () => {
    const [item] = await read({ loglines, subagents: [{ tool_calls: [{ name: 'rm' }] }] });
    expect(item).toMatchObject({
      ok: true,
      trace: { captured: { toolCalls: 'partial' }, warnings: [{ code: 'WRAPPER_NOT_READ' }] },
    });
  });

  test('a refusal of another wrapper names its keys', async () => {
    const [item] = await read({ meta: {}, payload: [{ what: 'ever' }] });
    expect(item).toMatchObject({
      ok: false,
      problem: { message: expect.stringContaining('"payload"') },
    });
  });
});
