import type { Trace } from '@agentci/trace';
import { finalText, handoffs, queryText, toolCalls, toolNames, totals } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { readTraceItems } from '../reader/read-traces.ts';

async function tracesOf(value: unknown): Promise<Trace[]> {
  const traces: Trace[] = [];
  for await (const item of readTraceItems(Buffer.from(JSON.stringify(value)))) {
    if (!item.ok) throw new Error(`${item.problem.code}: ${item.problem.message}`);
    traces.push(item.trace);
  }
  return traces;
}
const traceOf = async (value: unknown): Promise<Trace> => {
  const [trace, ...more] = await tracesOf(value);
  expect(more).toEqual([]);
  return trace!;
};
const statuses = (trace: Trace) => toolCalls(trace).map(({ status }) => status);

describe('Claude Code stream-json', () => {
  const line = (type: string, message: object, more = {}) => ({
    type,
    message: { role: type, ...message },
    session_id: 's',
    parent_tool_use_id: null,
    ...more,
  });
  const use = (id: string, name = 'Bash', input = {}) => ({ type: 'tool_use', id, name, input });
  const reply = (id: string, content: object[], more = {}) =>
    line(
      'assistant',
      { id, model: 'm', content, usage: { input_tokens: 3, output_tokens: 1 } },
      more,
    );
  const result = (more = {}) => ({
    type: 'result',
    subtype: 'success',
    is_error: false,
    session_id: 's',
    result: 'Done.',
    usage: { input_tokens: 4, output_tokens: 107 },
    ...more,
  });

  test('counts the tokens of the result, not the provisional ones of the lines', async () => {
    const trace = await traceOf([
      reply('a', [use('1')]),
      reply('b', [{ type: 'text', text: 'Done.' }]),
      result(),
    ]);
    expect(totals(trace).outputTokens).toEqual({ exact: true, value: 107 });
  });

  test('knows no output tokens without a result', async () => {
    expect(totals(await traceOf([reply('a', [use('1')])])).outputTokens.exact).toBe(false);
  });

  test('two lines with one message id are one reply', async () => {
    const trace = await traceOf([
      reply('a', [{ type: 'text', text: 'I look.' }]),
      reply('a', [use('1')]),
      result(),
    ]);
    expect(trace.steps.filter(({ kind }) => kind === 'llm')).toHaveLength(1);
    expect(toolNames(trace)).toEqual(['Bash']);
  });

  test('says that helper models used more than the run', async () => {
    const trace = await traceOf([
      result({ modelUsage: { m: { inputTokens: 400, outputTokens: 107 } } }),
    ]);
    expect(trace.warnings).toMatchObject([{ code: 'HIDDEN_CALLS' }, { code: 'USAGE_DRIFT' }]);
  });

  test.each([
    { when: 'a success that is an error', more: { is_error: true }, status: 'error' },
    { when: 'a limit', more: { subtype: 'error_max_turns' }, status: 'incomplete' },
    {
      when: 'an error',
      more: { subtype: 'error_during_execution', is_error: true },
      status: 'error',
    },
  ])('$when is $status and has no answer', async ({ more, status }) => {
    const trace = await traceOf([reply('a', [use('1')]), result(more)]);
    expect(trace.status).toBe(status);
    expect(trace.final).toBeUndefined();
  });

  test('a result alone captures no tool calls', async () => {
    expect((await traceOf([result()])).captured.toolCalls).toBe('none');
  });

  test('each result ends a separate run', async () => {
    const traces = await tracesOf([
      reply('a', [use('1')]),
      result(),
      reply('b', [use('2', 'Read')]),
      result(),
    ]);
    expect(traces.map(({ id }) => id)).toEqual(['s', 's#2']);
    expect(traces.map(toolNames)).toEqual([['Bash'], ['Read']]);
  });
});

describe('OpenAI Agents SDK', () => {
  const span = (id: string, span_data: object, more = {}) => ({
    object: 'trace.span',
    id,
    trace_id: 't',
    parent_id: null,
    started_at: '2026-01-01T00:00:00Z',
    ended_at: '2026-01-01T00:00:01Z',
    error: null,
    span_data,
    ...more,
  });

  test('a tool in a list of items is neither a success nor a failure', async () => {
    const raw = (more: object) => ({ callId: 'c', name: 'f', status: 'completed', ...more });
    const trace = await traceOf([
      {
        type: 'tool_call_item',
        rawItem: raw({ type: 'function_call', arguments: '{}' }),
        agent: { name: 'A' },
      },
      {
        type: 'tool_call_output_item',
        rawItem: raw({
          type: 'function_call_result',
          output: { type: 'text', text: 'An error occurred' },
        }),
        agent: { name: 'A' },
      },
    ]);
    expect(statuses(trace)).toEqual(['unknown']);
    expect(trace.captured.toolErrors).toBe('none');
  });

  test('spans tell of failures, and tokens of turns are not counted twice', async () => {
    const usage = { input_tokens: 5, output_tokens: 2 };
    const trace = await traceOf([
      { object: 'trace', id: 't', workflow_name: 'w' },
      span('1', { type: 'agent', name: 'A' }),
      span(
        '2',
        { type: 'custom', name: 'turn', data: { sdk_span_type: 'turn', usage } },
        { parent_id: '1' },
      ),
      span(
        '3',
        { type: 'generation', model: 'm', output: [{ role: 'assistant', content: 'hi' }], usage },
        { parent_id: '2' },
      ),
      span(
        '4',
        { type: 'function', name: 'f', input: '{"a":1}', output: null },
        { parent_id: '2', error: { message: 'boom' } },
      ),
      span('5', { type: 'handoff', from_agent: 'A', to_agent: 'B' }, { parent_id: '1' }),
    ]);
    expect(totals(trace).totalTokens).toEqual({ exact: true, value: 7 });
    expect(toolCalls(trace)).toMatchObject([
      { name: 'f', args: { a: 1 }, status: 'error', error: { message: 'boom' } },
    ]);
    expect(handoffs(trace)).toMatchObject([{ from: 'A', to: 'B', mode: 'pass' }]);
  });
});

describe('frameworks', () => {
  test('the output tool of Pydantic AI is the answer, not a tool', async () => {
    const trace = await traceOf([
      { kind: 'request', parts: [{ part_kind: 'user-prompt', content: 'Name it' }] },
      {
        kind: 'response',
        parts: [
          {
            part_kind: 'tool-call',
            tool_name: 'final_result',
            args: '{"name":"Ada"}',
            tool_call_id: '1',
          },
        ],
      },
      {
        kind: 'request',
        parts: [
          {
            part_kind: 'tool-return',
            tool_name: 'final_result',
            content: 'Final result processed.',
            tool_call_id: '1',
          },
        ],
      },
    ]);
    expect(toolNames(trace)).toEqual([]);
    expect(trace.final).toEqual({ data: { name: 'Ada' } });
  });

  test('AG2 answers are paired with their calls', async () => {
    const trace = await traceOf({
      summary: 'ok',
      chat_history: [
        { role: 'user', name: 'boss', content: 'Go' },
        {
          role: 'assistant',
          name: 'coder',
          content: '',
          tool_calls: [{ id: '1', type: 'function', function: { name: 'run', arguments: '{}' } }],
        },
        {
          role: 'tool',
          content: '7',
          tool_responses: [{ tool_call_id: '1', role: 'tool', content: '7' }],
        },
        { role: 'assistant', name: 'coder', content: 'Seven.' },
      ],
    });
    expect(toolCalls(trace)).toMatchObject([
      { name: 'run', agent: 'coder', result: '7', status: 'unknown' },
    ]);
    expect(finalText(trace)).toBe('Seven.');
  });

  test('A2A v0.3 reads like v1', async () => {
    const trace = await traceOf([
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'message/send',
        params: {
          message: {
            kind: 'message',
            messageId: 'm',
            role: 'user',
            parts: [{ kind: 'text', text: 'Hi' }],
          },
        },
      },
      {
        jsonrpc: '2.0',
        id: 1,
        result: {
          kind: 'task',
          id: 't',
          contextId: 'c',
          status: {
            state: 'failed',
            message: {
              kind: 'message',
              messageId: 'n',
              role: 'agent',
              parts: [{ kind: 'text', text: 'No.' }],
            },
          },
        },
      },
    ]);
    expect([queryText(trace), finalText(trace), trace.status]).toEqual(['Hi', 'No.', 'error']);
    expect(trace.captured.toolCalls).toBe('none');
  });
});

describe('evaluation logs', () => {
  test('calls of the simulated user are not tool steps', async () => {
    const trace = await traceOf({
      task_id: 't',
      termination_reason: 'user_stop',
      messages: [
        {
          role: 'user',
          content: null,
          tool_calls: [{ id: '1', name: 'reboot', arguments: {}, requestor: 'user' }],
        },
        { role: 'tool', id: '1', content: 'ok', requestor: 'user', error: false },
        { role: 'assistant', content: 'Fine.' },
      ],
    });
    expect(toolNames(trace)).toEqual([]);
    expect(trace.steps).toMatchObject([
      { kind: 'event', name: 'user.tool_call' },
      { kind: 'event' },
      { kind: 'llm' },
    ]);
  });

  test('empty and null ids of AgentDojo are paired in order', async () => {
    const call = (name: string) => ({ function: name, args: {}, id: '' });
    const answer = (name: string, content: string) => ({
      role: 'tool',
      content,
      tool_call_id: null,
      tool_call: { function: name },
      error: null,
    });
    const trace = await traceOf({
      suite_name: 's',
      user_task_id: 'u',
      utility: false,
      security: true,
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: '', tool_calls: [call('a'), call('b'), call('a')] },
        answer('a', '1'),
        answer('b', '2'),
        answer('a', '3'),
      ],
    });
    expect(toolCalls(trace).map(({ name, result }) => [name, result])).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['a', '3'],
    ]);
    expect(trace.outcomes).toMatchObject([
      { name: 'utility', value: false },
      { name: 'security', value: true },
    ]);
  });

  test('commands of mini-SWE-agent fail by their return code', async () => {
    const trace = await traceOf({
      info: { exit_status: 'Submitted', submission: 'diff' },
      messages: [
        { role: 'user', content: 'Fix' },
        { role: 'assistant', content: 'I try.\n```bash\nmake\n```' },
        { role: 'user', content: '<returncode>2</returncode>\n<output>no rule</output>' },
      ],
    });
    expect(toolCalls(trace)).toMatchObject([
      { name: 'bash', args: { command: 'make' }, status: 'error' },
    ]);
    expect([finalText(trace), trace.status]).toEqual(['diff', 'ok']);
  });
});
