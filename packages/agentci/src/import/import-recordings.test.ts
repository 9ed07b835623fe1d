import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { importRecordings } from './import-recordings.ts';

const chat = (text: string) => ({
  id: text,
  messages: [
    { role: 'user', content: 'hi' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'ok' },
    { role: 'assistant', content: text },
  ],
});
const own = (answer: string) => ({ query: answer, answer, tool_calls: [] });
const levels = async (...lines: readonly unknown[]) => {
  const dir = tempDir({
    'runs.jsonl': lines
      .map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
      .join('\n'),
  });
  const { traces, problems } = await importRecordings(['runs.jsonl'], { dir });
  return [traces.map(({ captured }) => captured.toolCalls), problems.length];
};

test.each([
  { when: 'all of a file is read', lines: [chat('a'), chat('b')], known: ['full', 'full'], bad: 0 },
  {
    when: 'a record of a file is not read',
    lines: [chat('a'), { what: 'else' }, chat('b')],
    known: ['partial', 'partial'],
    bad: 1,
  },
  {
    when: 'a native run is not read',
    lines: [own('a'), '{"query": ', own('b')],
    known: ['full', 'full'],
    bad: 1,
  },
])('$known is kept when $when', async ({ lines, known, bad }) => {
  expect(await levels(...lines)).toEqual([known, bad]);
});
