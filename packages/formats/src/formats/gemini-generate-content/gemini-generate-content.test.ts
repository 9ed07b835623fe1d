import { readAll, readOne } from '@agentci/testing/read-all';
import { finalText, toolCalls } from '@agentci/trace';
import { describe, expect, test } from 'vitest';

const user = (...parts: object[]) => ({ role: 'user', parts });
const model = (...parts: object[]) => ({ role: 'model', parts });
const call = (name: string, args: object) => ({ functionCall: { name, args } });
const result = (name: string, response: object) => ({ functionResponse: { name, response } });
const reply = (...parts: object[]) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 },
});
const pair = (contents: object[], response: unknown) => ({
  uri: 'http://model.test/v1/models/m:generateContent',
  request: { contents },
  status: 200,
  response,
});

describe('calls without ids', () => {
  const asked = [user({ text: 'hi' })];
  const history = [
    ...asked,
    model(call('look', { q: 1 })),
    user(result('look', { output: 'found' })),
  ];
  const run = [pair(asked, reply(call('look', { q: 1 }))), pair(history, reply({ text: 'done' }))];

  test('tie the requests of one run together by the history they repeat', async () => {
    const trace = await readOne(run);
    expect(toolCalls(trace)).toMatchObject([
      { name: 'look', args: { q: 1 }, result: 'found', status: 'ok' },
    ]);
    expect(finalText(trace)).toBe('done');
  });

  test('do not tie runs together that began alike and went on apart', async () => {
    const other = [
      user({ text: 'ho' }),
      model(call('look', { q: 1 })),
      user(result('look', { output: 'x' })),
    ];
    const { traces } = await readAll([...run, pair(other, reply({ text: 'done too' }))]);
    expect(traces.map(finalText)).toEqual(['done', 'done too']);
  });

  test('of the same run recorded twice are two runs', async () => {
    const { traces } = await readAll([...run, ...run]);
    expect(traces.map((trace) => toolCalls(trace).length)).toEqual([1, 1]);
  });
});

describe('what a function gave', () => {
  test.each([
    { response: { output: { x: 1 } }, read: { result: { x: 1 }, status: 'ok' } },
    {
      response: { error: 'no' },
      read: { result: 'no', status: 'error', error: { message: 'no' } },
    },
    { response: { x: 1 }, read: { result: { x: 1 }, status: 'unknown' } },
    {
      response: { output: 1, more: 2 },
      read: { result: { output: 1, more: 2 }, status: 'unknown' },
    },
    {
      response: { output: 1, error: null },
      read: { result: { output: 1, error: null }, status: 'unknown' },
    },
  ])('is read from $response', async ({ response, read }) => {
    const trace = await readOne([
      user({ text: 'hi' }),
      model(call('f', {})),
      user(result('f', response)),
    ]);
    expect(toolCalls(trace)).toMatchObject([read]);
  });
});

test.each([
  { where: 'a stream', input: [pair([user({ text: 'hi' })], 'data: PIECE1\n\ndata: PIECE2\n\n')] },
  { where: 'a history', input: [user({ text: 'hi' }), model({ text: 'do' }, { text: 'ne' })] },
])('the pieces of a reply in $where are one text', async ({ input }) => {
  const text = JSON.stringify(input)
    .replace('PIECE1', () => JSON.stringify(JSON.stringify(reply({ text: 'do' }))).slice(1, -1))
    .replace('PIECE2', () => JSON.stringify(JSON.stringify(reply({ text: 'ne' }))).slice(1, -1));
  expect(finalText(await readOne(text))).toBe('done');
});

test('a text instead of request contents hides earlier messages', async () => {
  const trace = await readOne([
    { ...pair([], reply({ text: 'done' })), request: { contents: 'hi' } },
  ]);
  expect(trace.captured.toolCalls).toBe('partial');
});
