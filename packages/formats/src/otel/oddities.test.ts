import { otlp, otlpLogs, type SmallSpan } from '@agentci/testing/otlp';
import { readAll, readOne } from '@agentci/testing/read-all';
import { finalText, toolCalls, totals } from '@agentci/trace';
import { describe, expect, test } from 'vitest';

const usage = (input: number, output: number) => ({
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
});
const chat = (span: SmallSpan): SmallSpan => ({
  ...span,
  attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', ...span.attributes },
});
const says = (...parts: object[]): string => JSON.stringify([{ role: 'assistant', parts }]);
const call = (id: string, name: string, args = {}) => ({
  type: 'tool_call',
  id,
  name,
  arguments: args,
});

describe('spans of the AI SDK', () => {
  test('version 7: the usage of the root is the sum of its children and is not counted again, nor are its calls', async () => {
    const asked = call('c1', 'look', { q: 1 });
    const trace = await readOne(
      otlp([
        chat({
          id: 'l1',
          parent: 'root',
          at: [1, 2],
          attributes: { ...usage(10, 5), 'gen_ai.output.messages': says(asked) },
        }),
        {
          id: 't1',
          parent: 'root',
          at: [3, 4],
          attributes: {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': 'look',
            'gen_ai.tool.call.id': 'c1',
          },
        },
        chat({
          id: 'l2',
          parent: 'root',
          at: [5, 6],
          attributes: {
            ...usage(20, 7),
            'gen_ai.output.messages': says({ type: 'text', content: 'done' }),
          },
        }),
        {
          id: 'root',
          at: [0, 7],
          attributes: {
            'gen_ai.operation.name': 'invoke_agent',
            'gen_ai.agent.name': 'A',
            ...usage(30, 12),
            'gen_ai.output.messages': says(asked, { type: 'text', content: 'done' }),
          },
        },
      ]),
    );
    expect(totals(trace)).toMatchObject({
      llmCalls: { value: 2 },
      totalTokens: { exact: true, value: 42 },
    });
    expect(toolCalls(trace)).toMatchObject([{ name: 'look', args: { q: 1 } }]);
    expect(finalText(trace)).toBe('done');
  });

  test.each(['ai.usage.cachedInputTokens', 'ai.usage.inputTokenDetails.cacheReadTokens'])(
    'finds cached tokens next to the general attributes: %s',
    async (name) => {
      const call: SmallSpan = {
        id: 'a',
        at: [1, 2],
        attributes: {
          'ai.operationId': 'ai.generateText.doGenerate',
          'ai.response.text': 'Done.',
          'gen_ai.usage.input_tokens': 100,
          'gen_ai.usage.output_tokens': 5,
          [name]: 90,
        },
      };
      const { steps } = await readOne(otlp([call], 'ai'));
      expect(steps).toMatchObject([{ usage: { input: 100, output: 5, cacheRead: 90 } }]);
    },
  );

  test('version 5: the usage of the root is that of the last step, and the sum of the steps counts', async () => {
    const step = (id: string, at: [number, number], input: number): SmallSpan => ({
      id,
      parent: 'root',
      at,
      attributes: {
        'ai.operationId': 'ai.generateText.doGenerate',
        'ai.response.text': id,
        'ai.usage.promptTokens': input,
        'ai.usage.completionTokens': 1,
      },
    });
    const root: SmallSpan = {
      id: 'root',
      at: [0, 9],
      attributes: {
        'ai.operationId': 'ai.generateText',
        'ai.prompt': '{"prompt":"hi"}',
        'ai.response.text': 'second',
        'ai.usage.promptTokens': 20,
        'ai.usage.completionTokens': 1,
      },
    };
    const trace = await readOne(
      otlp([step('first', [1, 2], 10), step('second', [3, 4], 20), root], 'ai'),
    );
    expect(totals(trace).totalTokens).toEqual({ exact: true, value: 32 });
  });

  test('two tools that started in one millisecond stand in the order the model asked, not the order they ended', async () => {
    const tool = (id: string, name: string): SmallSpan => ({
      id,
      parent: 'root',
      at: [3, 4],
      attributes: {
        'ai.operationId': 'ai.toolCall',
        'ai.toolCall.name': name,
        'ai.toolCall.id': id,
        'ai.toolCall.args': '{}',
      },
    });
    const asked = ['one', 'two'].map((name) => ({ toolCallId: name, toolName: name, input: {} }));
    const trace = await readOne(
      otlp([
        tool('two', 'two'),
        tool('one', 'one'),
        {
          id: 'llm',
          parent: 'root',
          at: [1, 2],
          attributes: {
            'ai.operationId': 'ai.generateText.doGenerate',
            'ai.response.toolCalls': JSON.stringify(asked),
          },
        },
        { id: 'root', at: [0, 9], attributes: { 'ai.operationId': 'ai.generateText' } },
      ]),
    );
    expect(toolCalls(trace).map(({ name }) => name)).toEqual(['one', 'two']);
  });
});

describe('one run', () => {
  const first = {
    role: 'assistant',
    tool_calls: [{ id: 'c1', function: { name: 'look', arguments: '{"q":1}' } }],
  };
  const spans = [
    chat({ id: 'a', trace: 'one', at: [1, 2], attributes: usage(10, 5) }),
    chat({ id: 'b', trace: 'two', at: [5, 6], attributes: usage(20, 7) }),
  ];
  const logs = otlpLogs([
    { span: 'a', trace: 'one', name: 'gen_ai.user.message', body: { content: 'hi' }, at: 1 },
    {
      span: 'a',
      trace: 'one',
      name: 'gen_ai.choice',
      body: { finish_reason: 'tool_calls', message: first },
      at: 2,
    },
    { span: 'b', trace: 'two', name: 'gen_ai.user.message', body: { content: 'hi' }, at: 5 },
    { span: 'b', trace: 'two', name: 'gen_ai.assistant.message', body: first, at: 5 },
    {
      span: 'b',
      trace: 'two',
      name: 'gen_ai.tool.message',
      body: { id: 'c1', content: 'found' },
      at: 5,
    },
    {
      span: 'b',
      trace: 'two',
      name: 'gen_ai.choice',
      body: { message: { content: 'done' } },
      at: 6,
    },
  ]);

  test('under two trace ids is put together by the id of the call one reply asks for and the other request answers', async () => {
    const trace = await readOne(`${JSON.stringify(otlp(spans))}\n${JSON.stringify(logs)}\n`);
    expect(trace.source.traceIds).toHaveLength(2);
    expect(toolCalls(trace)).toMatchObject([{ name: 'look', args: { q: 1 }, result: 'found' }]);
    expect(totals(trace).totalTokens).toEqual({ exact: true, value: 42 });
    expect(finalText(trace)).toBe('done');
  });

  test('stays two when no call ties them together', async () => {
    const apart = otlpLogs([
      {
        span: 'a',
        trace: 'one',
        name: 'gen_ai.choice',
        body: { message: { content: 'x' } },
        at: 2,
      },
      {
        span: 'b',
        trace: 'two',
        name: 'gen_ai.choice',
        body: { message: { content: 'y' } },
        at: 6,
      },
    ]);
    expect(
      (await readAll(`${JSON.stringify(otlp(spans))}\n${JSON.stringify(apart)}`)).traces,
    ).toHaveLength(2);
  });
});

test('spans of tools that say nothing get arguments and results from the messages of the agent, by call id', async () => {
  const messages = [
    { role: 'assistant', parts: [call('c1', 'look', { q: 1 })] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'found' }] },
    { role: 'assistant', parts: [{ type: 'text', content: 'done' }] },
  ];
  const trace = await readOne(
    otlp([
      {
        id: 'root',
        at: [0, 9],
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': 'A',
          'gen_ai.output.messages': JSON.stringify(messages),
        },
      },
      {
        id: 't',
        parent: 'root',
        at: [1, 2],
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'look',
          'gen_ai.tool.call.id': 'c1',
        },
      },
    ]),
  );
  expect(toolCalls(trace)).toMatchObject([
    { name: 'look', args: { q: 1 }, result: 'found', status: 'ok' },
  ]);
});

test.each([
  {
    how: 'lists',
    value: `${'{"arrayValue":{"values":['.repeat(400)}{"intValue":"1"}${']}}'.repeat(400)}`,
  },
  { how: 'objects in an argument', value: JSON.stringify({ stringValue: '{"a":'.repeat(5000) }) },
])(
  'hostile nesting of $how is refused with its place or left out, and never throws',
  async ({ value }) => {
    const base = JSON.stringify(
      otlp([
        {
          id: 't',
          attributes: {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': 'look',
            x: 'HERE',
          },
        },
      ]),
    );
    const text = base
      .replace('"key":"x"', '"key":"gen_ai.tool.call.arguments"')
      .replace('{"stringValue":"HERE"}', () => value);
    const { traces, problems } = await readAll(text);
    expect(traces.length + problems.length).toBe(1);
    for (const problem of problems)
      expect(problem).toMatchObject({ code: 'TRACE_TOO_LARGE', line: 1 });
  },
);
