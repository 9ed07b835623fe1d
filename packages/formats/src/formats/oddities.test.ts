import { readAll, readOne } from '@agentci/testing/read-all';
import { finalText, handoffs, toolCalls } from '@agentci/trace';
import { describe, expect, test } from 'vitest';

describe('Vercel AI SDK', () => {
  const called = { toolCallId: 'c1', toolName: 'refund', input: { amount: 42 } };
  const step = (content: object[], messages: object[]) => ({
    content,
    finishReason: 'tool-calls',
    usage: { inputTokens: 1, outputTokens: 1 },
    response: { id: 'r', messages },
  });
  const failed = step(
    [
      { type: 'tool-call', ...called },
      { type: 'tool-error', ...called, error: {} },
    ],
    [
      { role: 'assistant', content: [{ type: 'tool-call', ...called }] },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            ...called,
            output: { type: 'error-text', value: 'the limit is 40' },
          },
        ],
      },
    ],
  );

  test('an error that printed as {} has its words from the messages', async () => {
    expect(toolCalls(await readOne([failed]))).toMatchObject([
      { name: 'refund', status: 'error', error: { message: 'the limit is 40' } },
    ]);
  });

  test('an error without any words is an error still', async () => {
    const [call] = toolCalls(await readOne([{ ...failed, response: { id: 'r' } }]));
    expect(call).toMatchObject({ name: 'refund', status: 'error' });
  });
});

describe('LangSmith', () => {
  const run = (id: number, more: object) => ({
    id: `00000000-0000-4000-8000-00000000000${id}`,
    trace_id: '00000000-0000-4000-8000-000000000001',
    dotted_order: `2026010${id}`,
    run_type: 'chain',
    inputs: {},
    ...(id === 1 ? {} : { parent_run_id: '00000000-0000-4000-8000-000000000001' }),
    ...more,
  });
  const root = run(1, { name: 'graph', outputs: { output: 'done' } });
  const tool = (error?: string) =>
    run(2, {
      name: 'look',
      run_type: 'tool',
      inputs: { q: 1 },
      ...(error === undefined ? { outputs: {} } : { error }),
    });

  test.each(['ParentCommand', 'GraphInterrupt', 'GraphBubbleUp', 'NodeInterrupt'])(
    'a node left by %s has not failed',
    async (name) => {
      const trace = await readOne({
        post: [{ ...root, error: `${name}: {"goto":"billing"}\n    at x` }, tool()],
      });
      expect(trace).toMatchObject({ status: 'ok', final: { text: 'done' } });
    },
  );

  test('any other error of the root is a failure, and one of a tool is the tool’s', async () => {
    expect(
      await readOne({ post: [{ ...root, error: 'TypeError: no\n\n    at x' }, tool()] }),
    ).toMatchObject({
      status: 'error',
      error: { message: 'TypeError: no' },
    });
    const trace = await readOne({ post: [root, tool('Error: limit')] });
    expect(trace.status).toBe('ok');
    expect(toolCalls(trace)).toMatchObject([{ name: 'look', status: 'error' }]);
  });
});

describe('Langfuse', () => {
  const observation = (more: object) => ({
    traceId: 't',
    type: 'SPAN',
    startTime: '2026-01-05T09:00:00.000Z',
    endTime: '2026-01-05T09:00:01.000Z',
    ...more,
  });
  const message = { role: 'assistant', tool_calls: [{ id: 'c1', name: 'look', args: { q: 1 } }] };

  test('a span named like a requested tool is its call, and its JSON text is parsed', async () => {
    const trace = await readOne({
      trace: { id: 't', name: 'run' },
      observations: [
        observation({
          id: 'g',
          type: 'GENERATION',
          name: 'model',
          output: JSON.stringify(message),
        }),
        observation({
          id: 's',
          name: 'look',
          startTime: '2026-01-05T09:00:02.000Z',
          endTime: '2026-01-05T09:00:03.000Z',
          input: '{"q":1}',
          output: '{"found":true}',
        }),
        observation({
          id: 'p',
          name: 'prepare',
          startTime: '2026-01-05T09:00:04.000Z',
          input: '{}',
          output: '{}',
        }),
      ],
    });
    expect(toolCalls(trace)).toMatchObject([
      { name: 'look', args: { q: 1 }, result: { found: true } },
    ]);
  });
});

describe('MCP', () => {
  const request = (id: unknown, x: number, more = {}) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'calc', arguments: { x }, ...more },
  });
  const response = (id: unknown, text: string, more = {}) => ({
    jsonrpc: '2.0',
    id,
    result: { content: [{ type: 'text', text }], ...more },
  });

  test('the ids 1 and "1" are two calls', async () => {
    const trace = await readOne([
      request(1, 10),
      request('1', 20),
      response('1', 'twenty'),
      response(1, 'ten'),
    ]);
    expect(toolCalls(trace)).toMatchObject([
      { args: { x: 10 }, result: 'ten' },
      { args: { x: 20 }, result: 'twenty' },
    ]);
  });

  test('a call that waits for input is neither done nor failed', async () => {
    const trace = await readOne([
      request(1, 10),
      response(1, 'more, please', { resultType: 'input_required' }),
    ]);
    expect(toolCalls(trace)).toMatchObject([{ status: 'pending' }]);
  });
});

describe('LangGraph', () => {
  const message = (type: string, kwargs: object) => ({
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', type],
    kwargs,
  });

  test('a swarm’s state hands over once: by the call, not again by the change of speaker', async () => {
    const trace = await readOne({
      activeAgent: 'billing',
      messages: [
        message('HumanMessage', { content: 'hi' }),
        message('AIMessage', {
          content: '',
          name: 'triage',
          tool_calls: [{ id: 'c1', name: 'transfer_to_billing', args: {} }],
        }),
        message('ToolMessage', {
          content: 'Successfully transferred to billing',
          tool_call_id: 'c1',
        }),
        message('AIMessage', { content: 'done', name: 'billing' }),
      ],
    });
    expect(handoffs(trace)).toMatchObject([{ from: 'triage', to: 'billing', mode: 'pass' }]);
    expect(finalText(trace)).toBe('done');
  });
});

test('a stream of chat chunks that names its calls by index alone keeps them apart', async () => {
  const chunk = (tool_calls: object[]) => ({
    object: 'chat.completion.chunk',
    choices: [{ delta: { tool_calls } }],
  });
  const part = (index: number, fn: object, id?: string) => ({
    index,
    function: fn,
    ...(id === undefined ? {} : { id }),
  });
  const { traces } = await readAll([
    chunk([
      part(0, { name: 'one', arguments: '{"q"' }, 'a'),
      part(1, { name: 'two', arguments: '{' }, 'b'),
    ]),
    chunk([part(1, { arguments: '}' }), part(0, { arguments: ':1}' })]),
  ]);
  expect(toolCalls(traces[0]!)).toMatchObject([
    { name: 'one', args: { q: 1 } },
    { name: 'two', args: {} },
  ]);
});
