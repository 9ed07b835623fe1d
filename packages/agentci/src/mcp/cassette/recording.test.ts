import { expect, test } from 'vitest';
import type { TapLine } from '../tap-log.ts';
import { CassettePlayer } from './player.ts';
import { CassetteRecording } from './recording.ts';

const TOKEN = `ghp_${'aB3dE6gH9'.repeat(4)}`;
const call = (id: number, args: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 't', arguments: args },
});
const reply = (id: number, text: string) => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });

function record(...messages: readonly (readonly ['c2s' | 's2c', object])[]): CassetteRecording {
  const recording = new CassetteRecording(() => 0);
  for (const [dir, message] of messages) recording.add(dir, Buffer.from(`${JSON.stringify(message)}\n`));
  return recording;
}

test('a credential in a request becomes a placeholder and still matches', () => {
  const text = record(['c2s', call(1, { token: TOKEN })], ['s2c', reply(1, 'done')]).text();
  expect(text).not.toContain(TOKEN);
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TapLine);
  const other = `ghp_${'zY8xW5vU2'.repeat(4)}`;
  expect(new CassettePlayer(lines).answer(call(7, { token: other }))).toMatchObject({ id: 7, result: {} });
});

test('a credential in an answer refuses the recording', () => {
  expect(() => record(['c2s', call(1, {})], ['s2c', reply(1, `use ${TOKEN}`)]).text()).toThrowError(
    expect.objectContaining({ code: 'MCP_CASSETTE_SECRET' }),
  );
});

test('a call without an answer refuses the recording, unless it was cancelled', () => {
  expect(() => record(['c2s', call(1, {})]).text()).toThrowError(
    expect.objectContaining({ code: 'MCP_CASSETTE_INCOMPLETE' }),
  );
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  expect(record(['c2s', call(1, {})], ['c2s', cancelled]).text()).toContain('cancelled');
});
