import { describe, expect, test } from 'vitest';
import type { Trace } from '../trace/model.ts';
import { toolCalls } from '../trace/selectors.ts';
import { readTraces } from './read-traces.ts';

/** Every trace in a recording that is written here. */
async function tracesIn(recording: unknown): Promise<Trace[]> {
  const text = typeof recording === 'string' ? recording : JSON.stringify(recording);
  const traces: Trace[] = [];
  for await (const trace of readTraces(Buffer.from(text))) traces.push(trace);
  return traces;
}

const callsIn = (traces: readonly Trace[]): string[] =>
  traces.flatMap((trace) => toolCalls(trace).map(({ name, args }) => `${name} ${JSON.stringify(args)}`));

const QUESTION = { role: 'user', content: 'q' };
const asks = (...calls: readonly (readonly [id: string, name: string, args?: string])[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.map(([id, name, args = '{}']) => ({ id, type: 'function', function: { name, arguments: args } })),
});
const answered = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });
const DONE = { role: 'assistant', content: 'done' };

const span = (
  id: string,
  attributes: Readonly<Record<string, string>>,
  place: { parent?: string; at?: number } = {},
) => ({
  traceId: 'a'.repeat(32),
  spanId: id.padStart(16, '0'),
  name: 'span',
  ...(place.parent === undefined ? {} : { parentSpanId: place.parent.padStart(16, '0') }),
  startTimeUnixNano: `170000000000${place.at ?? 1}000000`,
  endTimeUnixNano: `170000000000${(place.at ?? 1) + 1}000000`,
  attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
});
const otlp = (...spans: readonly unknown[]) => ({ resourceSpans: [{ scopeSpans: [{ scope: {}, spans }] }] });
const toolSpan = (name: string, args: string, callId?: string) => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': name,
  'gen_ai.tool.call.arguments': args,
  ...(callId === undefined ? {} : { 'gen_ai.tool.call.id': callId }),
});

describe('ids that are given out twice', () => {
  test.each([
    {
      when: 'two calls of one message share an id',
      recording: { messages: [QUESTION, asks(['c', 'lookup'], ['c', 'delete_all']), DONE] },
      calls: ['lookup {}', 'delete_all {}'],
    },
    {
      when: 'a later reply uses the id for another tool',
      recording: {
        messages: [
          QUESTION,
          asks(['c', 'lookup']),
          answered('c', '1'),
          asks(['c', 'delete_all']),
          answered('c', '2'),
          DONE,
        ],
      },
      calls: ['lookup {}', 'delete_all {}'],
    },
    {
      when: 'a later reply uses the id for other arguments',
      recording: {
        messages: [QUESTION, asks(['c', 'pay', '{"n":1}']), answered('c', '1'), asks(['c', 'pay', '{"n":9}']), DONE],
      },
      calls: ['pay {"n":1}', 'pay {"n":9}'],
    },
    {
      when: 'a later reply asks for the very same',
      recording: { messages: [QUESTION, asks(['c', 'pay']), answered('c', '1'), asks(['c', 'pay']), DONE] },
      calls: ['pay {}', 'pay {}'],
    },
    {
      when: 'two spans of one tool share an id',
      recording: otlp(
        span('1', toolSpan('pay', '{"n":1}', 'c')),
        span('2', toolSpan('pay', '{"n":9}', 'c'), { at: 4 }),
      ),
      calls: ['pay {"n":1}', 'pay {"n":9}'],
    },
    {
      when: 'a tool calls itself with other arguments',
      recording: otlp(span('1', toolSpan('pay', '{"n":1}')), span('2', toolSpan('pay', '{"n":9}'), { parent: '1' })),
      calls: ['pay {"n":1}', 'pay {"n":9}'],
    },
  ])('every call counts when $when', async ({ recording, calls }) => {
    expect(callsIn(await tracesIn(recording))).toEqual(calls);
  });

  test('results go to the calls in their order', async () => {
    const [trace] = await tracesIn({
      messages: [
        QUESTION,
        asks(['c', 'lookup']),
        answered('c', 'first'),
        asks(['c', 'lookup']),
        answered('c', 'second'),
        DONE,
      ],
    });
    expect(toolCalls(trace!).map(({ result }) => result)).toEqual(['first', 'second']);
  });

  test('a tool inside another under one id leaves its name to the rules', async () => {
    const [trace] = await tracesIn(
      otlp(span('1', toolSpan('run', '{}', 'c')), span('2', toolSpan('delete_all', '{}', 'c'), { parent: '1' })),
    );
    expect(toolCalls(trace!).map(({ name, rawName }) => [name, rawName])).toEqual([['run', 'delete_all']]);
  });

  test('ten thousand calls of one id are read in no time', async () => {
    const calls = Array.from({ length: 10_000 }, (_, i) => ['c', 'pay', `{"n":${i}}`] as const);
    const start = performance.now();
    const traces = await tracesIn({ messages: [QUESTION, asks(...calls), DONE] });
    expect(callsIn(traces)).toHaveLength(10_000);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

test('a call without a name is a call of a tool nobody can tell', async () => {
  const nameless = { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { arguments: '{}' } }] };
  const [trace] = await tracesIn({ messages: [QUESTION, asks(['a', 'lookup']), nameless, DONE] });
  expect(toolCalls(trace!).map(({ name }) => name)).toEqual(['lookup', 'unknown']);
  expect(trace!.captured.toolCalls).toBe('partial');
});
