import { gzipSync } from 'node:zlib';
import { SECRETS } from '@agentci/lib/secrets';
import { expect, test } from 'vitest';
import type { Exchange } from './exchange.ts';
import { maskReply } from './mask-replies.ts';

const KEY = 'sk-proj-0123456789abcdefghijklmn';
SECRETS.add([{ name: 'OPENAI_API_KEY', value: KEY }]);
const [A, B] = [KEY.slice(0, 15), KEY.slice(15)];

const chat = (text: string): string =>
  `data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\n\n`;
const messages = (text: string): string =>
  `event: content_block_delta\ndata: ${JSON.stringify({ index: 0, delta: { type: 'text_delta', text } })}\n\n`;
const lines = (text: string): string =>
  `${JSON.stringify({ message: { content: text }, done: false })}\n`;
const masked = (pieces: readonly string[]): string[] => {
  const chunks = pieces.map((piece, i) => [i, Buffer.from(piece)] as const);
  return maskReply({ chunks } as unknown as Exchange).chunks.map(([, bytes]) => bytes.toString());
};

test.each([
  [
    'two events of a chat stream',
    [chat(`ä ${A}`), chat(`${B} ö`)],
    [chat('ä [OPENAI_API_KEY]'), chat(' ö')],
  ],
  [
    'three events',
    [chat('sk-proj-'), chat('0123456789abc'), chat('defghijklmn')],
    [chat('[OPENAI_API_KEY]'), chat(''), chat('')],
  ],
  [
    'two events of Anthropic',
    [messages(A), messages(B)],
    [messages('[OPENAI_API_KEY]'), messages('')],
  ],
  ['two lines of JSON', [lines(A), lines(B)], [lines('[OPENAI_API_KEY]'), lines('')]],
  ['two events in one chunk', [chat(A) + chat(B)], [chat('[OPENAI_API_KEY]') + chat('')]],
  ['two chunks', [`{"text":"x ${A}`, `${B} y"}`], ['{"text":"x [OPENAI_API_KEY]', ' y"}']],
  ['nothing', [chat('Grüße'), chat(' 😀')], [chat('Grüße'), chat(' 😀')]],
])('a key over %s is not kept', (_, pieces, kept) => {
  expect(masked(pieces)).toEqual(kept);
});

test('a packed reply without keys stays as it is', () => {
  const packed = gzipSync('{"text":"hello"}');
  const exchange = { chunks: [[0, packed]] } as unknown as Exchange;
  expect(maskReply(exchange).chunks[0]![1].equals(packed)).toBe(true);
});
