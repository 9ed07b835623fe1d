import { expect, test } from 'vitest';
import { parseExact, stringifyExact } from '../../kit/exact-json.ts';
import { messagesIn } from '../message.ts';
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

test.each([
  ['9007199254740993', true],
  ['9007199254740992', false],
])('a number that JavaScript would round is compared and given by its digits: asked %s', (asked, isKnown) => {
  const line = (id: string, number: string): string =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"t","arguments":{"row":${number}}}}`;
  const recording = new CassetteRecording(() => 0);
  recording.add('c2s', Buffer.from(line('9007199254740995', '9007199254740993')));
  recording.add('s2c', Buffer.from('{"jsonrpc":"2.0","id":9007199254740995,"result":{"row":9007199254740993}}'));
  const text = recording.text();
  expect(text).toContain('"result":{"row":9007199254740993}');
  const lines = text.trim().split('\n');
  const player = new CassettePlayer(lines.map((one) => parseExact(one) as TapLine));
  const [message] = messagesIn(line('9007199254740997', asked), parseExact)!;
  const given = stringifyExact(player.answer(message!));
  expect(given).toContain('"id":9007199254740997');
  expect(given.includes('"row":9007199254740993')).toBe(isKnown);
  expect(player.misses.map((miss) => miss.message)).toEqual(
    isKnown
      ? []
      : [
          'cassette miss: tools/call t: the nearest recorded one differs at /arguments/row: recorded 9007199254740993, asked 9007199254740992',
        ],
  );
});
