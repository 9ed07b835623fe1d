import { otlp, otlpLogs, type SmallSpan } from '@agentci/testing/otlp';
import { readOne } from '@agentci/testing/read-all';
import { finalText, handoffs, queryText, toolCalls } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { genAiUsage } from './facts.ts';

const QUERY = 'hi';
const ANSWER = 'done';
const parts = (content: string) => [{ type: 'text', content }];
const inputMessages = JSON.stringify([{ role: 'user', parts: parts(QUERY) }]);
const outputMessages = JSON.stringify([
  { role: 'assistant', parts: parts(ANSWER), finish_reason: 'stop' },
]);

interface Version {
  readonly version: string;
  readonly attributes: NonNullable<SmallSpan['attributes']>;
  readonly events?: NonNullable<SmallSpan['events']>;
  readonly logs?: readonly { name: string; body: object }[];
}

const VERSIONS: readonly Version[] = [
  {
    version: '1.26: content in attributes of the span',
    attributes: {
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.prompt': JSON.stringify([{ role: 'user', content: QUERY }]),
      'gen_ai.completion': JSON.stringify([{ role: 'assistant', content: ANSWER }]),
      'gen_ai.usage.prompt_tokens': 10,
      'gen_ai.usage.completion_tokens': 5,
    },
  },
  {
    version: '1.27: content in events of the span',
    attributes: {
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.prompt_tokens': 10,
      'gen_ai.usage.completion_tokens': 5,
    },
    events: [
      {
        name: 'gen_ai.content.prompt',
        attributes: { 'gen_ai.prompt': JSON.stringify([{ role: 'user', content: QUERY }]) },
      },
      {
        name: 'gen_ai.content.completion',
        attributes: {
          'gen_ai.completion': JSON.stringify([{ role: 'assistant', content: ANSWER }]),
        },
      },
    ],
  },
  {
    version: '1.28: one log record a message',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
    },
    logs: [
      { name: 'gen_ai.user.message', body: { content: QUERY } },
      {
        name: 'gen_ai.choice',
        body: { index: 0, finish_reason: 'stop', message: { content: ANSWER } },
      },
    ],
  },
  {
    version: '1.37: messages on the span',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.input.messages': inputMessages,
      'gen_ai.output.messages': outputMessages,
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
    },
  },
  {
    version: '1.37: messages in the event of the whole operation',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
    },
    events: [
      {
        name: 'gen_ai.client.inference.operation.details',
        attributes: {
          'gen_ai.input.messages': inputMessages,
          'gen_ai.output.messages': outputMessages,
        },
      },
    ],
  },
];

test.each(VERSIONS)('conventions $version', async ({ attributes, events = [], logs = [] }) => {
  const lines = [
    otlp([{ id: 'a', at: [1, 2], attributes, events }]),
    ...(logs.length === 0
      ? []
      : [otlpLogs(logs.map((log, i) => ({ span: 'a', at: 1 + i, ...log })))]),
  ];
  const trace = await readOne(lines.map((line) => JSON.stringify(line)).join('\n'));
  expect(queryText(trace)).toBe(QUERY);
  expect(finalText(trace)).toBe(ANSWER);
  expect(trace.steps).toMatchObject([
    {
      kind: 'llm',
      provider: 'openai',
      model: 'm',
      usage: { input: 10, output: 5 },
      t0: expect.any(Number),
    },
  ]);
});

describe('token counts', () => {
  test.each([
    ['1.26', 'prompt_tokens', 'input'],
    ['1.26', 'completion_tokens', 'output'],
    ['1.28', 'input_tokens', 'input'],
    ['1.28', 'output_tokens', 'output'],
    ['1.40', 'cache_read.input_tokens', 'cacheRead'],
    ['1.40', 'cache_creation.input_tokens', 'cacheWrite'],
    ['1.41', 'reasoning.output_tokens', 'reasoning'],
    ['gen-ai-dev', 'cache_write.input_tokens', 'cacheWrite'],
    ['no version', 'cache_read_input_tokens', 'cacheRead'],
    ['no version', 'cache_creation_input_tokens', 'cacheWrite'],
    ['no version', 'reasoning_tokens', 'reasoning'],
    ['no version', 'total_tokens', 'total'],
  ])('of %s: gen_ai.usage.%s is %s', (_, name, key) => {
    expect(genAiUsage({ [`gen_ai.usage.${name}`]: 7 })).toEqual({ [key]: 7 });
    expect(genAiUsage({ [`gen_ai.usage.${name}`]: '7' })).toEqual({ [key]: 7 });
  });

  test('of two versions on one span are one count', () => {
    const both = { 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.prompt_tokens': 10 };
    expect(genAiUsage(both)).toEqual({ input: 10 });
  });

  test('that are not numbers are not captured, and without any there is no usage', () => {
    expect(genAiUsage({ 'gen_ai.usage.input_tokens': 'many' })).toBeUndefined();
    expect(genAiUsage({})).toBeUndefined();
  });
});

describe('tool spans', () => {
  test.each([
    { field: 'response', version: 'the schema' },
    { field: 'result', version: 'examples of the registry' },
  ])(
    'a result under "$field", as $version has it, is read from the next request',
    async ({ field }) => {
      const asked = [
        {
          role: 'assistant',
          parts: [{ type: 'tool_call', id: 'c1', name: 'look', arguments: '{"q":1}' }],
        },
      ];
      const told = [
        ...asked,
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', [field]: 'found' }] },
      ];
      const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' };
      const trace = await readOne(
        otlp([
          {
            id: 'a',
            at: [1, 2],
            attributes: { ...chat, 'gen_ai.output.messages': JSON.stringify(asked) },
          },
          {
            id: 'b',
            at: [3, 4],
            attributes: {
              ...chat,
              'gen_ai.input.messages': JSON.stringify(told),
              'gen_ai.output.messages': outputMessages,
            },
          },
        ]),
      );
      expect(toolCalls(trace)).toMatchObject([{ name: 'look', args: { q: 1 }, result: 'found' }]);
    },
  );

  test.each([
    { mode: 'pass_control', read: 'pass' },
    { mode: 'return_to_caller', read: 'return' },
  ])('of gen-ai-dev that transfer ($mode) are handoffs ($read)', async ({ mode, read }) => {
    const trace = await readOne(
      otlp([
        {
          id: 'root',
          at: [0, 9],
          attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'A' },
        },
        {
          id: 't',
          parent: 'root',
          at: [1, 2],
          attributes: {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': 'ask_b',
            'gen_ai.transfer.target.name': 'B',
            'gen_ai.transfer.mode': mode,
          },
        },
      ]),
    );
    expect(handoffs(trace)).toMatchObject([{ from: 'A', to: 'B', mode: read }]);
  });
});
