import { readAll, readOne } from '@agentci/testing/read-all';
import { finalText, toolNames, totals } from '@agentci/trace';
import { describe, expect, test } from 'vitest';

const start = {
  contentBlockStart: {
    contentBlockIndex: 0,
    start: { toolUse: { toolUseId: 't1', name: 'valve' } },
  },
};
const stop = { messageStop: { stopReason: 'tool_use' } };
const lines = (...events: readonly object[]): string =>
  events.map((event) => JSON.stringify(event)).join('\n');

describe('a stream of Converse', () => {
  test('that has not stopped is cut off', async () => {
    const read = await readOne(lines({ messageStart: { role: 'assistant' } }, start));
    expect([toolNames(read), read.captured.toolCalls, read.status]).toEqual([
      ['valve'],
      'partial',
      'incomplete',
    ]);
  });
  test('with an exception among its events is damaged', async () => {
    const read = await readOne(
      lines(start, { throttlingException: { message: 'slow down' } }, stop),
    );
    expect(read.captured.toolCalls).toBe('partial');
  });
  test('with a kind of use that nobody knows yet shows it as a call', async () => {
    const unknown = {
      contentBlockStart: {
        contentBlockIndex: 0,
        start: { serverToolUse: { id: 'x', name: 'search' } },
      },
    };
    expect(toolNames(await readOne(lines(unknown, stop)))).toEqual(['search']);
  });
  test('two replies are two runs, and usage belongs to the reply before it', async () => {
    const say = (text: string) => ({
      contentBlockDelta: { contentBlockIndex: 0, delta: { text } },
    });
    const end = [
      { messageStop: { stopReason: 'end_turn' } },
      { metadata: { usage: { inputTokens: 3, outputTokens: 1 } } },
    ];
    const { traces } = await readAll(lines(say('One.'), ...end, say('Two.'), ...end));
    expect(traces.map((trace) => [finalText(trace), totals(trace).inputTokens])).toMatchObject([
      ['One.', { value: 3 }],
      ['Two.', { value: 3 }],
    ]);
  });
});

describe('a request of Bedrock', () => {
  const pair = (path: string, request: object, response: unknown, status = 200) => ({
    method: 'POST',
    uri: `https://bedrock-runtime.eu-west-1.amazonaws.com/model/some.model%3A0/${path}`,
    request,
    status,
    response,
  });
  const nova = {
    output: { message: { role: 'assistant', content: [{ text: 'Hi.' }] } },
    stopReason: 'end_turn',
    usage: {},
  };
  test.each([
    [
      'Converse',
      pair('converse', { messages: [{ role: 'user', content: [{ text: 'q' }] }] }, nova),
    ],
    [
      'InvokeModel of Nova',
      pair('invoke', { messages: [{ role: 'user', content: [{ text: 'q' }] }] }, nova),
    ],
    [
      'InvokeModel of Titan',
      pair(
        'invoke',
        { inputText: 'q' },
        { results: [{ outputText: 'Hi.', completionReason: 'FINISH' }] },
      ),
    ],
    [
      'InvokeModel of Llama',
      pair('invoke', { prompt: 'q' }, { generation: 'Hi.', stop_reason: 'stop' }),
    ],
  ])('%s is read', async (_, value) => {
    const read = await readOne([value]);
    expect([read.source.format, finalText(read)]).toEqual(['bedrock-converse', 'Hi.']);
    expect(read.steps[0]).toMatchObject({ model: 'some.model:0' });
  });
  test('InvokeModel of Anthropic is read as what it is', async () => {
    const response = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi.' }],
      stop_reason: 'end_turn',
    };
    const request = { anthropic_version: 'x', messages: [{ role: 'user', content: 'q' }] };
    expect((await readOne([pair('invoke', request, response)])).source.format).toBe(
      'anthropic-messages',
    );
  });
  test('that was refused is a run that failed', async () => {
    const read = await readOne([
      pair(
        'converse',
        { messages: [{ role: 'user', content: [{ text: 'q' }] }] },
        { message: 'no' },
        400,
      ),
    ]);
    expect(read.status).toBe('error');
  });
});
