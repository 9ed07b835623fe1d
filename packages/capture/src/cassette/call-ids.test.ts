import { expect, test } from 'vitest';
import { matchRules, readRequest } from './canonical.ts';

const keyOf = (body: object): string =>
  matchRules({ ignore: [], scrub: [] }).canonical(
    readRequest({
      provider: 'p',
      method: 'POST',
      path: '/v1/x',
      body: Buffer.from(JSON.stringify(body)),
    }),
  ).key;

type Ids = readonly [string, string];
const gemini = ([a, b]: Ids, [x, y]: Ids = [a, b]) => ({
  contents: [
    {
      role: 'model',
      parts: [
        { functionCall: { id: a, name: 'lookup', args: { id: 'o1' } } },
        { functionCall: { id: b, name: 'refund', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: x, name: 'lookup', response: {} } },
        { functionResponse: { id: y, name: 'refund', response: {} } },
      ],
    },
  ],
});
const chat = ([a, b]: Ids, [x, y]: Ids = [a, b]) => ({
  messages: [
    { role: 'assistant', tool_calls: [a, b].map((id) => ({ id, function: { name: 'f' } })) },
    ...[x, y].map((tool_call_id) => ({ role: 'tool', tool_call_id, content: tool_call_id })),
  ],
});
const anthropic = ([a, b]: Ids, [x, y]: Ids = [a, b]) => ({
  messages: [
    { role: 'assistant', content: [a, b].map((id) => ({ type: 'tool_use', id, name: 'f' })) },
    { role: 'user', content: [x, y].map((tool_use_id) => ({ type: 'tool_result', tool_use_id })) },
  ],
});

test.each([
  ['Gemini', gemini],
  ['Anthropic', anthropic],
])('ids that a client of %s draws make no other request', (_, body) => {
  expect(keyOf(body(['q', 'r']))).toBe(keyOf(body(['s', 't'])));
});

test.each([
  ['Gemini', gemini],
  ['OpenAI', chat],
  ['Anthropic', anthropic],
])('results of other calls make another request of %s', (_, body) => {
  expect(keyOf(body(['q', 'r'], ['r', 'q']))).not.toBe(keyOf(body(['q', 'r'])));
});

test('the key that a cassette keeps tells ids apart, as it did before', () => {
  const stored = (ids: Ids): string =>
    matchRules({ ignore: [], scrub: [] }).storedKey(
      readRequest({
        provider: 'p',
        method: 'POST',
        path: '/v1/x',
        body: Buffer.from(JSON.stringify(gemini(ids))),
      }),
    );
  expect(stored(['q', 'r'])).not.toBe(stored(['s', 't']));
});

test('the id in an argument is an argument', () => {
  const asked = (id: string) => ({
    messages: [{ content: [{ type: 'tool_use', id: 'c', name: 'f', input: { id } }] }],
  });
  expect(keyOf(asked('o1'))).not.toBe(keyOf(asked('o2')));
});
