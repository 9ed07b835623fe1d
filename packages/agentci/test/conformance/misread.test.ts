import { readTraces } from '@agentci/formats';
import type { Trace } from '@agentci/trace';
import { toolCalls, totals } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { isFailedRun } from '../../src/import/summarize-traces.ts';

/** The single trace of an inline recording. */
async function traceOf(recording: unknown): Promise<Trace> {
  const traces: Trace[] = [];
  for await (const trace of readTraces(Buffer.from(JSON.stringify(recording)))) traces.push(trace);
  expect(traces).toHaveLength(1);
  return traces[0]!;
}

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

const names = (trace: Trace): string[] => toolCalls(trace).map(({ name }) => name);

describe('one call that is recorded in several places is one', () => {
  const trace = { id: 't', input: 'hi', output: 'Done.' };
  const asking = (output: unknown) => ({
    id: 'g1',
    type: 'GENERATION',
    name: 'm',
    startTime: '2026-05-01T10:00:00Z',
    input: [{ role: 'user', content: 'hi' }],
    output,
  });
  const row = (name: string, type = 'TOOL') => ({
    id: 'o2',
    type,
    name,
    startTime: '2026-05-01T10:00:01Z',
    input: '{"q":1}',
    output: 'found',
  });
  const CALL = { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"q":1}' } };
  const message = { role: 'assistant', content: null, tool_calls: [CALL] };

  test.each([
    { row: row('execute_tool find') },
    { row: row('running tool: find') },
    { row: row('tool.find') },
    { row: row('tool.find', 'SPAN') },
    { row: row('find', 'SPAN') },
  ])('the row $row.type "$row.name" next to the message', async ({ row: tool }) => {
    const read = await traceOf({ trace, observations: [asking(message), tool] });
    expect(names(read)).toEqual(['find']);
    expect(toolCalls(read)[0]).toMatchObject({ callId: 'c1', result: 'found' });
    expect(read.captured.toolCalls).toBe('full');
  });

  test.each([
    {
      as: "LangChain's additional_kwargs",
      output: {
        role: 'assistant',
        content: '',
        additional_kwargs: { tool_calls: [CALL], refusal: null },
      },
    },
    {
      as: 'JSON text in the content',
      output: [{ role: 'assistant', content: JSON.stringify([CALL]) }],
    },
    {
      as: 'a Responses object',
      output: {
        object: 'response',
        output: [{ type: 'function_call', call_id: 'c1', name: 'find', arguments: '{"q":1}' }],
        text: { format: { type: 'text' } },
      },
    },
    {
      as: 'a Responses object as text',
      output: JSON.stringify({
        object: 'response',
        output: [{ type: 'function_call', call_id: 'c1', name: 'find', arguments: '{}' }],
      }),
    },
  ])('and is found when written as $as', async ({ output }) => {
    expect(names(await traceOf({ trace, observations: [asking(output)] }))).toEqual(['find']);
  });

  test('a Responses object holds the answer too', async () => {
    const content = [{ type: 'output_text', text: 'On its way.' }];
    const output = {
      object: 'response',
      output: [{ type: 'message', role: 'assistant', content }],
    };
    const read = await traceOf({ trace: { id: 't' }, observations: [asking(output)] });
    expect(read.final?.text).toBe('On its way.');
  });

  const chat = (id: string, at: number, attributes: Readonly<Record<string, string>>) =>
    span(
      'chat m',
      { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', ...attributes },
      {
        spanId: id.repeat(16),
        startTimeUnixNano: `170000000${at}000000000`,
        endTimeUnixNano: `170000000${at}500000000`,
      },
    );
  const asked = (id: string) =>
    JSON.stringify([
      { role: 'assistant', parts: [{ type: 'tool_call', id, name: 'find', arguments: { q: 1 } }] },
    ]);

  test('a history that repeats it under the other id of the Responses API', async () => {
    const read = await traceOf(
      otlp(
        chat('1', 1, { 'gen_ai.output.messages': asked('call_1') }),
        chat('2', 2, {
          'gen_ai.input.messages': asked('fc_9'),
          'gen_ai.output.messages': said('Done.'),
        }),
      ),
    );
    expect(names(read)).toEqual(['find']);
    expect(read.captured).toMatchObject({ toolCalls: 'full', llmCalls: 'full' });
  });

  test('a history that holds it and another of the same words is two', async () => {
    const twice = JSON.stringify([...JSON.parse(asked('fc_9')), ...JSON.parse(asked('fc_8'))]);
    const read = await traceOf(
      otlp(
        chat('1', 1, { 'gen_ai.output.messages': asked('call_1') }),
        chat('2', 2, { 'gen_ai.input.messages': twice, 'gen_ai.output.messages': said('Done.') }),
      ),
    );
    expect(names(read)).toEqual(['find', 'find']);
    expect(read.captured.llmCalls).toBe('partial');
  });

  test('two different replies with one id are two replies', async () => {
    const id = { 'gen_ai.response.id': 'r-1' };
    const read = await traceOf(
      otlp(
        chat('1', 1, { ...id, 'gen_ai.output.messages': asked('call_1') }),
        chat('2', 2, { ...id, 'gen_ai.output.messages': said('Done.') }),
      ),
    );
    expect(names(read)).toEqual(['find']);
    expect(totals(read).llmCalls).toEqual({ exact: true, value: 2 });
  });

  test('several output messages are choices: the first is the answer', async () => {
    const choices = JSON.stringify([...JSON.parse(said('First.')), ...JSON.parse(said('Second.'))]);
    const read = await traceOf(otlp(chat('1', 1, { 'gen_ai.output.messages': choices })));
    expect(read.final?.text).toBe('First.');
  });

  test('a printed call of the OpenAI SDK is a call', async () => {
    const printed = `ResponseFunctionToolCall(arguments='{"q":1}', call_id='c1', name='find', type='function_call')`;
    const read = await traceOf(otlp(chat('1', 1, { 'gen_ai.output.messages': said(printed) })));
    expect(toolCalls(read)).toMatchObject([{ name: 'find', callId: 'c1', args: { q: 1 } }]);
  });

  test('a handoff span is a handoff, whatever its name', async () => {
    const read = await traceOf(
      otlp(
        span('agent_handoff x', {
          'gen_ai.operation.name': 'agent_handoff',
          'gen_ai.handoff.from_agent': 'triage',
          'gen_ai.handoff.to_agent': 'billing',
        }),
        span(
          'handoff to refunds',
          { 'openinference.span.kind': 'TOOL' },
          { spanId: '2'.repeat(16) },
        ),
      ),
    );
    expect(read.steps.filter(({ kind }) => kind === 'handoff')).toMatchObject([
      { from: 'triage', to: 'billing' },
      { to: 'refunds' },
    ]);
    expect(names(read)).toEqual([]);
  });
});

describe('OpenInference messages', () => {
  const base = {
    name: 'llm',
    start_time: '2026-05-01T10:00:00Z',
    end_time: '2026-05-01T10:00:01Z',
    trace_id: 't'.repeat(32),
    span_id: 's'.repeat(16),
  };
  const call = { id: 'c1', function: { name: 'find', arguments: '{"q":1}' } };
  test.each([
    {
      as: 'lists of objects',
      attributes: {
        'openinference.span.kind': 'LLM',
        'llm.output_messages': [
          { message: { role: 'assistant', tool_calls: [{ tool_call: call }] } },
        ],
        'output.value': 'ChatCompletion(...)',
      },
    },
    {
      as: 'lists of objects with dotted names',
      attributes: {
        'openinference.span.kind': 'LLM',
        'llm.output_messages': [
          {
            'message.role': 'assistant',
            'message.tool_calls': [
              {
                'tool_call.id': 'c1',
                'tool_call.function.name': 'find',
                'tool_call.function.arguments': '{"q":1}',
              },
            ],
          },
        ],
        'output.value': 'ChatCompletion(...)',
      },
    },
    {
      as: 'one object in the other',
      attributes: {
        openinference: { span: { kind: 'LLM' } },
        llm: {
          output_messages: [{ message: { role: 'assistant', tool_calls: [{ tool_call: call }] } }],
        },
        output: { value: 'ChatCompletion(...)' },
      },
    },
    {
      as: 'text in JSON',
      attributes: {
        'openinference.span.kind': 'LLM',
        'llm.output_messages': JSON.stringify([
          { message: { role: 'assistant', tool_calls: [{ tool_call: call }] } },
        ]),
      },
    },
  ])('are read as $as', async ({ attributes }) => {
    const read = await traceOf([{ ...base, attributes }]);
    expect(toolCalls(read)).toMatchObject([{ name: 'find', callId: 'c1', args: { q: 1 } }]);
  });

  test('hold the answer when nested', async () => {
    const attributes = {
      'openinference.span.kind': 'LLM',
      'llm.output_messages': [{ message: { role: 'assistant', content: 'On its way.' } }],
      'output.value': '{"choices": "…"}',
    };
    expect((await traceOf([{ ...base, attributes }])).final?.text).toBe('On its way.');
  });
});

describe('coding agents', () => {
  test('SWE-agent: the last action is only in the trajectory', async () => {
    const read = await traceOf({
      trajectory: [
        { action: 'open a.py', observation: 'x', response: 'I open it.' },
        { action: 'submit', observation: 'diff', response: 'I submit.' },
      ],
      history: [
        { role: 'user', content: 'Fix it.', agent: 'main', message_type: 'observation' },
        {
          role: 'assistant',
          content: 'I open it.',
          action: 'open a.py',
          agent: 'main',
          message_type: 'action',
        },
        { role: 'user', content: 'x', agent: 'main', message_type: 'observation' },
      ],
      info: { exit_status: 'submitted', submission: 'diff' },
    });
    expect(names(read)).toEqual(['open', 'submit']);
  });

  test('mini-SWE-agent: commands in a separate block are calls', async () => {
    const read = await traceOf([
      { role: 'system', content: 'Answer with one command.' },
      { role: 'user', content: 'Look around.' },
      { role: 'assistant', content: 'I look.\n\n```mswea_bash_command\nls -la\n```' },
      { role: 'user', content: '<returncode>0</returncode>\n<output>\na.py\n</output>' },
      { role: 'assistant', content: 'I remove it.\n\n```mswea_bash_command\nrm a.py\n```' },
      { role: 'user', content: '<returncode>1</returncode>\n<output>\n</output>' },
    ]);
    expect(read.source.format).toBe('swe-agent');
    expect(toolCalls(read)).toMatchObject([
      { name: 'bash', args: { command: 'ls -la' }, status: 'ok' },
      { name: 'bash', args: { command: 'rm a.py' }, status: 'error' },
    ]);
  });
});

describe('AG-UI results of calls that an earlier run asked for', () => {
  const RESULT = {
    type: 'TOOL_CALL_RESULT',
    messageId: 'm2',
    toolCallId: 'c1',
    content: 'deleted',
  };
  const TEXT = [
    { type: 'TEXT_MESSAGE_START', messageId: 'm3', role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm3', delta: 'Done.' },
    { type: 'TEXT_MESSAGE_END', messageId: 'm3' },
    { type: 'RUN_FINISHED', threadId: 't', runId: 'r2' },
  ];

  test('belong to an unnamed call if that run is missing', async () => {
    const read = await traceOf([
      { type: 'RUN_STARTED', threadId: 't', runId: 'r2' },
      RESULT,
      ...TEXT,
    ]);
    expect(names(read)).toEqual(['unknown']);
    expect(read.captured.toolCalls).toBe('partial');
  });

  test('have its name if the run was sent its message', async () => {
    const toolCalls = [
      { id: 'c1', type: 'function', function: { name: 'delete_all', arguments: '{}' } },
    ];
    const messages = [{ id: 'm1', role: 'assistant', content: '', toolCalls }];
    const start = { type: 'RUN_STARTED', threadId: 't', runId: 'r2', input: { messages } };
    const read = await traceOf([start, RESULT, ...TEXT]);
    expect(names(read)).toEqual(['delete_all']);
    expect(read.captured.toolCalls).toBe('full');
  });
});

describe('what a recording means', () => {
  const dojo = (more: object) => ({
    suite_name: 'banking',
    pipeline_name: 'm',
    user_task_id: 'u1',
    injection_task_id: null,
    attack_type: null,
    utility: true,
    security: true,
    messages: [
      { role: 'user', content: 'Pay.' },
      { role: 'assistant', content: 'Paid.', tool_calls: [] },
    ],
    ...more,
  });

  test.each([
    { run: dojo({}), outcome: { name: 'security', value: true }, failed: false },
    {
      run: dojo({ injection_task_id: 'i1', attack_type: 'ignore' }),
      outcome: { name: 'attack_succeeded', value: true },
      failed: true,
    },
    {
      run: dojo({ injection_task_id: 'i1', attack_type: 'ignore', security: false }),
      outcome: { name: 'attack_succeeded', value: false },
      failed: false,
    },
  ])('AgentDojo: $outcome.name $outcome.value', async ({ run, outcome, failed }) => {
    const read = await traceOf(run);
    expect(read.outcomes).toContainEqual(expect.objectContaining(outcome));
    expect(isFailedRun(read)).toBe(failed);
  });

  test('ADK: a transfer goes to the agent that its arguments name', async () => {
    const event = (id: string, author: string, part: object, role: string) => ({
      id,
      author,
      invocation_id: 'i1',
      timestamp: 1_734_292_270,
      content: { parts: [part], role },
    });
    const read = await traceOf({
      id: 's1',
      app_name: 'a',
      user_id: 'u',
      events: [
        event('e1', 'user', { text: 'Research floods.' }, 'user'),
        event(
          'e2',
          'spark',
          {
            function_call: {
              name: 'transfer_to_other_agent',
              args: { agent_name: 'research_assistant' },
            },
          },
          'model',
        ),
        event(
          'e3',
          'spark',
          { function_response: { name: 'transfer_to_other_agent', response: { status: 'ok' } } },
          'user',
        ),
        event('e4', 'research_assistant', { text: 'Done.' }, 'model'),
      ],
    });
    expect(read.steps.filter(({ kind }) => kind === 'handoff')).toMatchObject([
      { from: 'spark', to: 'research_assistant' },
    ]);
  });

  test('Anthropic cassettes: calls of the history come before the new one', async () => {
    const read = await traceOf([
      {
        uri: 'https://api.anthropic.com/v1/messages',
        method: 'POST',
        status: 200,
        request: {
          model: 'claude',
          messages: [
            { role: 'user', content: 'Weather and time?' },
            {
              role: 'assistant',
              content: [{ type: 'tool_use', id: 't1', name: 'get_weather', input: {} }],
            },
            {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: 't1', content: 'rain' }],
            },
          ],
        },
        response: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude',
          stop_reason: 'tool_use',
          content: [{ type: 'tool_use', id: 't2', name: 'get_time', input: {} }],
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      },
    ]);
    expect(names(read)).toEqual(['get_weather', 'get_time']);
  });
});
