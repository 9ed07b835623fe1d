import type { Trace } from '@agentci/trace';
import { toolCalls } from '@agentci/trace';
import { strToU8, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import type { TraceProblem } from '../adapter.ts';
import { tryBuild } from '../build/build-trace.ts';
import { readTraces } from './read-traces.ts';

async function read(
  source: string | Uint8Array,
): Promise<{ traces: Trace[]; problems: TraceProblem[] }> {
  const traces: Trace[] = [];
  const problems: TraceProblem[] = [];
  const bytes = typeof source === 'string' ? Buffer.from(source) : source;
  for await (const trace of readTraces(bytes, { onProblem: (problem) => problems.push(problem) }))
    traces.push(trace);
  return { traces, problems };
}
const lines = (...values: readonly unknown[]): string =>
  values.map((value) => JSON.stringify(value)).join('\n');

const chat = {
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'done' },
  ],
};
const spans = { resourceSpans: [{ scopeSpans: [{ spans: [] }] }] };

test.each([
  { when: 'is of no format', bad: { tool: 'wipe', result: 'ok' } },
  { when: 'is of another format', bad: spans },
])('a good record is read although the next one $when', async ({ bad }) => {
  const { traces, problems } = await read(lines(chat, bad));
  expect(traces).toHaveLength(1);
  expect(problems).toMatchObject([{ code: 'TRACE_NOT_FORMAT', line: 2 }]);
});

const line = (type: string, uuid: string, message: object, more: object = {}) => ({
  parentUuid: null,
  sessionId: 'S',
  type,
  uuid,
  timestamp: '2026-01-01T00:00:01.000Z',
  message,
  ...more,
});
const asked = line('user', 'u1', { role: 'user', content: 'hi' });
const replied = line(
  'assistant',
  'a1',
  {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'c',
    content: [{ type: 'text', text: 'done' }],
    stop_reason: 'end_turn',
  },
  { parentUuid: 'u1' },
);
const own = { sessionId: 'S', timestamp: '2026-01-01T00:00:01.000Z' };

test('a short transcript of Claude Code is read with a line of a kind that is new', async () => {
  const { traces, problems } = await read(
    lines(asked, { ...own, type: 'new-kind', prNumber: 3 }, replied),
  );
  expect(problems).toEqual([]);
  expect(traces[0]).toMatchObject({ final: { text: 'done' }, captured: { toolCalls: 'full' } });
});

test('a result that was replaced, of a call that is not there, makes calls partly known', async () => {
  const replaced = {
    ...own,
    type: 'content-replacement',
    replacements: [{ toolUseId: 'toolu_1' }],
  };
  expect((await read(lines(asked, replaced, replied))).traces[0]!.captured.toolCalls).toBe(
    'partial',
  );
});

test('each recording in a zip is read as a file, and a problem names it', async () => {
  const zip = zipSync({
    'a.json': strToU8(`\uFEFF${JSON.stringify(chat)}`),
    'b.json': strToU8('{"x": 1}'),
    'c.md': strToU8('#'),
  });
  const { traces, problems } = await read(zip);
  expect(traces.map(({ source }) => source.file)).toEqual(['<zip>/a.json']);
  expect(problems).toMatchObject([{ file: '<zip>/b.json', code: 'TRACE_UNKNOWN_FORMAT' }]);
});

const completion = (name: string) => ({
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'q', type: 'function', function: { name, arguments: '{}' } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
});
const old = (msg: object) => ({ id: '0', msg });

test.each([
  {
    what: 'lines of an OpenAI batch',
    text: lines({
      id: 'b',
      custom_id: 'q1',
      response: { status_code: 200, body: completion('wipe') },
      error: null,
    }),
    calls: ['wipe'],
  },
  {
    what: 'lines of an Anthropic batch',
    text: lines({
      custom_id: 'q',
      result: {
        type: 'succeeded',
        message: {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'c',
          content: [{ type: 'tool_use', id: 't', name: 'wipe', input: {} }],
          stop_reason: 'tool_use',
        },
      },
    }),
    calls: ['wipe'],
  },
  {
    what: 'codex exec of an older release',
    text: lines(
      old({ type: 'session_configured', session_id: 's' }),
      old({ type: 'task_started' }),
      old({ type: 'exec_command_begin', call_id: 'c1', command: ['ls'] }),
      old({ type: 'exec_command_end', call_id: 'c1', stdout: 'north', exit_code: 0 }),
      old({
        type: 'mcp_tool_call_begin',
        call_id: 'c2',
        invocation: { server: 'fs', tool: 'wipe', arguments: {} },
      }),
      old({ type: 'patch_apply_begin', call_id: 'c3', changes: { 'a.txt': {} } }),
      old({ type: 'some_tool_call', call_id: 'c4', name: 'other' }),
      old({ type: 'agent_message', message: 'done' }),
      old({ type: 'task_complete' }),
    ),
    calls: ['command_execution', 'wipe', 'file_change', 'other'],
  },
  {
    what: 'the JSON output of Gemini CLI',
    text: JSON.stringify({
      response: 'done',
      stats: {
        models: {
          g: { api: { totalRequests: 3 }, tokens: { prompt: 1, candidates: 1, total: 2 } },
        },
        tools: { totalCalls: 2, byName: { wipe: { count: 2, fail: 1 } } },
      },
    }),
    calls: ['wipe', 'wipe'],
  },
  {
    what: 'updates of a graph',
    text: JSON.stringify([
      {
        agent: {
          messages: [
            { type: 'ai', content: '', tool_calls: [{ name: 'wipe', args: {}, id: 'q' }] },
          ],
        },
      },
      { tools: { messages: [{ type: 'tool', name: 'wipe', tool_call_id: 'q', content: 'ok' }] } },
      { agent: { messages: [{ type: 'ai', content: 'done' }] } },
    ]),
    calls: ['wipe'],
  },
  {
    what: 'the data stream of the AI SDK 4',
    text: [
      'f:{"messageId":"m"}',
      'b:{"toolCallId":"c","toolName":"wipe"}',
      'c:{"toolCallId":"c","argsTextDelta":"{}"}',
      'a:{"toolCallId":"c","result":"ok"}',
      'e:{"finishReason":"tool-calls"}',
      '0:"done"',
      'd:{"finishReason":"stop"}',
    ].join('\n'),
    calls: ['wipe'],
  },
])('reads $what', async ({ text, calls }) => {
  const { traces, problems } = await read(text);
  expect(problems).toEqual([]);
  expect(traces).toHaveLength(1);
  expect(toolCalls(traces[0]!).map(({ name }) => name)).toEqual(calls);
});

test('a run with too many steps is refused before it is worked out', () => {
  const calls = Array.from({ length: 100_000 }, (_, i) => ({ id: `c${i}`, name: 'x' }));
  const steps = [
    { kind: 'llm' as const, output: { role: 'assistant' as const, parts: [], calls } },
  ];
  const draft = {
    source: { format: 'x' },
    records: {},
    get steps() {
      return steps;
    },
    get turns(): never {
      throw new Error('worked out');
    },
  };
  expect(tryBuild({ value: {} }, () => draft)).toMatchObject([
    { ok: false, problem: { code: 'TRACE_TOO_LARGE' } },
  ]);
});
