import type { Capability, CaptureLevel, Trace } from '@agentci/trace';
import { totals } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { readTraces } from '../reader/read-traces.ts';

/** The one trace of a recording that is written here. */
async function traceOf(recording: unknown): Promise<Trace> {
  const isLines = Array.isArray(recording) && recording.every((line) => typeof line === 'string');
  const text = isLines ? recording.join('\n') : JSON.stringify(recording);
  const traces: Trace[] = [];
  for await (const trace of readTraces(Buffer.from(text))) traces.push(trace);
  expect(traces).toHaveLength(1);
  return traces[0]!;
}
const lines = (...values: readonly object[]): string[] =>
  values.map((value) => JSON.stringify(value));

const span = (
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  more: object = {},
) => ({
  traceId: 'a'.repeat(32),
  spanId: '1'.repeat(16),
  name,
  startTimeUnixNano: '1700000000000000000',
  endTimeUnixNano: '1700000001000000000',
  attributes: Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  })),
  ...more,
});
const otlp = (...spans: readonly unknown[]) => ({
  resourceSpans: [{ scopeSpans: [{ scope: {}, spans }] }],
});
const said = (text: string): string =>
  JSON.stringify([
    { role: 'assistant', parts: [{ type: 'text', content: text }], finish_reason: 'stop' },
  ]);

describe('what the agent alone says proves no capture', () => {
  test.each([
    {
      of: 'an invoke_agent span',
      recording: otlp(
        span('invoke_agent desk', {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': 'desk',
          'gen_ai.output.messages': said('Done.'),
          'gen_ai.usage.input_tokens': 900,
          'gen_ai.usage.output_tokens': 100,
        }),
      ),
    },
    {
      of: 'an OpenInference AGENT span',
      recording: otlp(
        span('desk', {
          'openinference.span.kind': 'AGENT',
          'input.value': 'hi',
          'output.value': 'Done.',
        }),
      ),
    },
    {
      of: 'a traceloop workflow span',
      recording: otlp(
        span('desk.workflow', {
          'traceloop.span.kind': 'workflow',
          'traceloop.entity.name': 'desk',
          'traceloop.entity.input': '{"q":"hi"}',
          'traceloop.entity.output': '"Done."',
        }),
      ),
    },
    {
      of: 'a LangSmith root',
      recording: [
        {
          id: 'r1',
          trace_id: 'r1',
          run_type: 'chain',
          name: 'desk',
          inputs: { input: 'hi' },
          outputs: { output: 'Done.' },
          start_time: '2026-05-01T10:00:00',
        },
      ],
    },
    {
      of: 'a Langfuse AGENT observation',
      recording: {
        trace: { id: 't1', input: 'hi', output: 'Done.' },
        observations: [{ id: 'o1', type: 'AGENT', name: 'desk', input: 'hi', output: 'Done.' }],
      },
    },
    {
      of: 'a result of Claude Code',
      recording: lines({
        type: 'result',
        subtype: 'success',
        is_error: false,
        session_id: 's',
        result: 'Done.',
        num_turns: 7,
        usage: { input_tokens: 10, output_tokens: 5 },
      }),
    },
  ])('$of', async ({ recording }) => {
    const { captured, final } = await traceOf(recording);
    expect(final?.text).toContain('Done.');
    expect(captured).toMatchObject({ toolCalls: 'none', llmCalls: 'none', handoffs: 'none' });
  });
});

describe('a reply whose content is there proves that nothing else was called', () => {
  test.each([
    {
      of: 'a chat span with its messages',
      recording: otlp(
        span('chat m', {
          'gen_ai.operation.name': 'chat',
          'gen_ai.request.model': 'm',
          'gen_ai.output.messages': said('Done.'),
        }),
      ),
    },
    {
      of: 'a conversation',
      recording: {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'Done.' },
        ],
      },
    },
    {
      of: 'an agent span that lists its whole conversation',
      recording: otlp(
        span('agent run', {
          'pydantic_ai.all_messages': JSON.stringify([
            { role: 'user', parts: [{ type: 'text', content: 'hi' }] },
            { role: 'assistant', parts: [{ type: 'text', content: 'Done.' }] },
          ]),
          final_result: 'Done.',
        }),
      ),
    },
  ])('$of', async ({ recording }) => {
    expect((await traceOf(recording)).captured.toolCalls).toBe('full');
  });
});

const CHAT = (messages: readonly object[]) => ({ messages });
const anthropicTurn = (...content: readonly object[]) => ({ role: 'assistant', content });

describe('a gap is partial, and the trace says why', () => {
  const cases: readonly {
    readonly gap: string;
    readonly recording: unknown;
    readonly code: string;
    readonly level?: CaptureLevel;
    readonly of?: Capability;
  }[] = [
    {
      gap: 'child runs of LangSmith that are named and absent',
      recording: [
        {
          id: 'r1',
          trace_id: 'r1',
          run_type: 'chain',
          name: 'desk',
          inputs: { input: 'hi' },
          outputs: { output: 'Done.' },
          child_run_ids: ['r2', 'r3'],
          total_tokens: 50_000,
          start_time: '2026-05-01T10:00:00',
        },
        {
          id: 'r2',
          trace_id: 'r1',
          parent_run_id: 'r1',
          run_type: 'llm',
          name: 'm',
          inputs: {},
          outputs: { role: 'assistant', content: 'Done.' },
          start_time: '2026-05-01T10:00:01',
        },
      ],
      code: 'CHILDREN_MISSING',
    },
    {
      gap: 'turns of the OpenAI Agents SDK without a reply',
      recording: [
        { object: 'trace', id: 'trace_1', workflow_name: 'w' },
        ...['1', '2', '3'].map((n) => ({
          object: 'trace.span',
          id: `span_${n}`,
          trace_id: 'trace_1',
          parent_id: null,
          started_at: `2026-05-01T10:00:0${n}Z`,
          ended_at: `2026-05-01T10:00:0${n}Z`,
          span_data: {
            type: 'custom',
            name: 'turn',
            data: { sdk_span_type: 'turn', turn: Number(n) },
          },
        })),
      ],
      code: 'REPLIES_MISSING',
      of: 'llmCalls',
    },
    {
      gap: 'a result without its call, in a chat',
      recording: CHAT([
        { role: 'user', content: 'hi' },
        { role: 'tool', tool_call_id: 'c1', content: 'deleted' },
        { role: 'assistant', content: 'Done.' },
      ]),
      code: 'RESULT_WITHOUT_CALL',
    },
    {
      gap: "a result without its call, in Anthropic's messages",
      recording: CHAT([
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'deleted' }] },
        anthropicTurn({ type: 'text', text: 'Done.' }),
      ]),
      code: 'RESULT_WITHOUT_CALL',
    },
    {
      gap: 'a result without its call, in items of the Responses API',
      recording: [
        { type: 'function_call_output', call_id: 'c1', output: 'deleted' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] },
      ],
      code: 'RESULT_WITHOUT_CALL',
    },
    {
      gap: 'a result without its call, in a session of Strands',
      recording: {
        messages: [
          {
            role: 'user',
            content: [
              { toolResult: { toolUseId: 't1', status: 'success', content: [{ text: 'x' }] } },
            ],
          },
          { role: 'assistant', content: [{ text: 'Done.' }] },
        ],
      },
      code: 'RESULT_WITHOUT_CALL',
    },
    {
      gap: 'a result without its call, in a rollout of Codex',
      recording: lines(
        { timestamp: '2026-05-01T10:00:00Z', type: 'session_meta', payload: { id: 's1' } },
        {
          timestamp: '2026-05-01T10:00:01Z',
          type: 'response_item',
          payload: { type: 'function_call_output', call_id: 'c1', output: 'deleted' },
        },
        {
          timestamp: '2026-05-01T10:00:02Z',
          type: 'response_item',
          payload: {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'Done.' }],
          },
        },
      ),
      code: 'RESULT_WITHOUT_CALL',
    },
    {
      gap: 'a result without its call, in the stream of Claude Code',
      recording: lines(
        {
          type: 'user',
          session_id: 's',
          message: {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 't1', content: 'x' }],
          },
        },
        {
          type: 'assistant',
          session_id: 's',
          message: { id: 'm1', ...anthropicTurn({ type: 'text', text: 'Done.' }) },
        },
      ),
      code: 'RESULT_WITHOUT_CALL',
    },
    {
      gap: 'more turns than replies, in the stream of Claude Code',
      recording: lines(
        {
          type: 'assistant',
          session_id: 's',
          message: { id: 'm1', ...anthropicTurn({ type: 'text', text: 'Done.' }) },
        },
        {
          type: 'result',
          subtype: 'success',
          is_error: false,
          session_id: 's',
          result: 'Done.',
          num_turns: 7,
        },
      ),
      code: 'COUNT_MISMATCH',
    },
    {
      gap: 'tokens of a root that its model calls do not add up to',
      recording: otlp(
        span('invoke_agent desk', {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': 'desk',
          'gen_ai.usage.input_tokens': 900,
          'gen_ai.usage.output_tokens': 100,
        }),
        span(
          'chat m',
          {
            'gen_ai.operation.name': 'chat',
            'gen_ai.request.model': 'm',
            'gen_ai.output.messages': said('Done.'),
            'gen_ai.usage.input_tokens': 90,
            'gen_ai.usage.output_tokens': 10,
          },
          { spanId: '2'.repeat(16), parentSpanId: '1'.repeat(16) },
        ),
      ),
      code: 'USAGE_DRIFT',
    },
    {
      gap: 'a parent that is absent beside a root',
      recording: otlp(
        span('invoke_agent desk', {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': 'desk',
        }),
        span(
          'chat m',
          {
            'gen_ai.operation.name': 'chat',
            'gen_ai.request.model': 'm',
            'gen_ai.output.messages': said('Done.'),
          },
          { spanId: '2'.repeat(16), parentSpanId: '9'.repeat(16) },
        ),
      ),
      code: 'PARENT_MISSING',
    },
    {
      gap: 'a block of an unknown kind that may be a call',
      recording: CHAT([
        { role: 'user', content: 'hi' },
        anthropicTurn(
          { type: 'text', text: 'Done.' },
          { type: 'computer_action', payload: 'rm -rf /' },
        ),
      ]),
      code: 'BLOCK_UNKNOWN',
    },
    {
      gap: 'an item of the Responses API of an unknown kind that may be a call',
      recording: {
        id: 'resp_1',
        object: 'response',
        status: 'completed',
        model: 'm',
        output: [
          { type: 'browser_action', action: 'rm' },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] },
        ],
      },
      code: 'BLOCK_UNKNOWN',
    },
    {
      gap: 'a part of Pydantic AI of an unknown kind that may be a call',
      recording: [
        { kind: 'request', parts: [{ part_kind: 'user-prompt', content: 'hi' }] },
        {
          kind: 'response',
          parts: [
            { part_kind: 'remote-tool-call', tool_name: 'rm', args: {} },
            { part_kind: 'text', content: 'Done.' },
          ],
        },
      ],
      code: 'BLOCK_UNKNOWN',
    },
    {
      gap: 'a reply that ended to call tools and shows none',
      recording: {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        model: 'm',
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: { role: 'assistant', content: 'I look.' },
          },
        ],
      },
      code: 'CALLS_MISSING',
    },
    {
      gap: 'a reply with neither words nor calls',
      recording: CHAT([
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: null },
      ]),
      code: 'REPLY_EMPTY',
    },
  ];
  test.each(cases)('$gap', async ({ recording, code, of = 'toolCalls', level = 'partial' }) => {
    const trace = await traceOf(recording);
    expect(trace.captured[of]).toBe(level);
    expect(trace.warnings.map((warning) => warning.code)).toContain(code);
  });

  test('the tokens of a LangSmith root without its children count for limits', async () => {
    const trace = await traceOf([
      {
        id: 'r1',
        trace_id: 'r1',
        run_type: 'chain',
        name: 'desk',
        inputs: { input: 'hi' },
        outputs: { output: 'Done.' },
        child_run_ids: ['r2'],
        total_tokens: 50_000,
        start_time: '2026-05-01T10:00:00',
      },
    ]);
    expect(totals(trace).totalTokens).toEqual({ exact: true, value: 50_000 });
    expect(totals(trace).toolCalls).toMatchObject({ exact: false });
  });

  test('three turns without a reply are at least three model calls', async () => {
    const turn = cases.find(({ gap }) => gap.startsWith('turns of the OpenAI'))!;
    expect(totals(await traceOf(turn.recording)).llmCalls).toMatchObject({
      exact: false,
      atLeast: 3,
    });
  });

  test('one parent that is absent above everything is the caller in another program', async () => {
    const trace = await traceOf(
      otlp(
        span(
          'chat m',
          {
            'gen_ai.operation.name': 'chat',
            'gen_ai.request.model': 'm',
            'gen_ai.output.messages': said('Done.'),
          },
          { parentSpanId: '9'.repeat(16) },
        ),
      ),
    );
    expect(trace).toMatchObject({
      captured: { toolCalls: 'full', llmCalls: 'full' },
      warnings: [],
    });
  });
});
