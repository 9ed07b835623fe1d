import { describeFormat } from '@agentci/testing/format-cases';
import { readOne } from '@agentci/testing/read-all';
import type { LlmStep, ToolStep, Trace } from '@agentci/trace';
import { totals } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { capturedTrace } from './captured-trace.ts';
import { bytesToJson, type ExchangeRecord } from './exchange-record.ts';

const AT = 1_767_603_600_000;
type Parts = Partial<Omit<ExchangeRecord, 'request' | 'response'>> & {
  readonly asked?: unknown;
  readonly reply?: unknown;
  readonly status?: number;
};

function exchange(i: number, { asked = {}, reply, status = 200, ...rest }: Parts): ExchangeRecord {
  const text = typeof reply === 'string' ? reply : JSON.stringify(reply);
  return {
    schema: 'agentci.exchange/1',
    run: 'r',
    i,
    at: AT + i * 1000,
    provider: 'openai',
    route: 'chat',
    method: 'POST',
    uri: 'https://api.openai.com/v1/chat/completions',
    request: JSON.stringify(asked),
    ...(reply === undefined ? {} : { response: { status, headers: {}, chunks: [[5, text]] } }),
    end_ms: 500,
    complete: true,
    ...rest,
  };
}

const user = { role: 'user', content: 'How deep is the well?' };
const call = {
  id: 'c1',
  type: 'function',
  function: { name: 'sounding', arguments: '{"well":"north"}' },
};
const asks = { role: 'assistant', content: null, tool_calls: [call] };
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const chat = (message: object, id: string) => ({
  id,
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message, finish_reason: 'tool_calls' in message ? 'tool_calls' : 'stop' }],
  usage,
});
const says = { role: 'assistant', content: '11 metres.' };
const first = exchange(1, { asked: { model: 'm', messages: [user] }, reply: chat(asks, 'a') });
const second = exchange(2, {
  asked: {
    model: 'm',
    messages: [user, asks, { role: 'tool', tool_call_id: 'c1', content: '11 m' }],
  },
  reply: chat(says, 'b'),
});
const SOUNDING = 'sounding({"well":"north"})';

describeFormat('agentci-exchange', [
  {
    when: 'a call gets its outcome from the next request',
    recording: [first, second],
    lines: true,
    query: 'How deep is the well?',
    tools: [`${SOUNDING} unknown`],
    answer: '11 metres.',
    status: 'ok',
    calls: 'full',
  },
  {
    when: 'a call of the last reply is pending',
    recording: [first],
    lines: true,
    query: 'How deep is the well?',
    tools: [`${SOUNDING} pending`],
    status: 'unknown',
    calls: 'full',
  },
  {
    when: 'an exchange that was given up makes the calls partly known',
    recording: [first, { ...second, complete: false, why: 'client_abort' }],
    lines: true,
    query: 'How deep is the well?',
    tools: [`${SOUNDING} unknown`],
    answer: '11 metres.',
    status: 'ok',
    calls: 'partial',
  },
  {
    when: 'a number that is missing among the exchanges makes them partly known',
    recording: [first, { ...second, i: 3 }],
    lines: true,
    query: 'How deep is the well?',
    tools: [`${SOUNDING} unknown`],
    answer: '11 metres.',
    status: 'ok',
    calls: 'partial',
  },
  {
    when: 'a request that may be a model call in no known format makes them partly known',
    recording: [
      first,
      second,
      exchange(3, {
        route: 'other',
        uri: 'https://x.example/v9/think',
        asked: { model: 'm', input: 'x' },
        reply: {},
      }),
    ],
    lines: true,
    query: 'How deep is the well?',
    tools: [`${SOUNDING} unknown`],
    status: 'unknown',
    calls: 'partial',
  },
  {
    when: 'lists of models and files are passed over',
    recording: [
      exchange(1, {
        route: 'other',
        method: 'GET',
        uri: 'https://api.openai.com/v1/models',
        reply: {},
      }),
      { ...first, i: 2 },
      { ...second, i: 3 },
    ],
    lines: true,
    query: 'How deep is the well?',
    tools: [`${SOUNDING} unknown`],
    answer: '11 metres.',
    status: 'ok',
    calls: 'full',
  },
]);

describe('exchanges', () => {
  test('a failed call is a step with its error, not a call that counts', async () => {
    const limited = exchange(1, {
      asked: { model: 'm', messages: [user] },
      reply: { error: { message: 'slow down' } },
      status: 429,
    });
    const trace = await readOne([limited, { ...first, i: 2 }, { ...second, i: 3 }]);
    expect(trace.steps.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      'event error',
      'llm ok',
      'tool unknown',
      'llm ok',
    ]);
    const { llmCalls, totalTokens } = totals(trace);
    expect([llmCalls, totalTokens]).toEqual([
      { exact: true, value: 2 },
      { exact: true, value: 30 },
    ]);
    expect(trace.captured).toMatchObject({ llmCalls: 'full', toolCalls: 'full', usage: 'full' });
  });

  test('a run that ends with a failed call has no answer', async () => {
    const refused = exchange(3, {
      asked: { model: 'm' },
      reply: { error: { message: 'no' } },
      status: 500,
    });
    const trace = await readOne([first, second, refused]);
    expect([trace.status, trace.final, trace.error?.message]).toEqual(['error', undefined, 'no']);
  });

  test('an exchange that could not be kept hides calls', async () => {
    const trace = await readOne([first, { ...second, complete: false, why: 'too_large' }]);
    expect([trace.captured.llmCalls, trace.captured.toolCalls]).toEqual(['partial', 'partial']);
    expect(trace.warnings.map(({ code }) => code)).toContain('EXCHANGE_TOO_LARGE');
  });

  test('embeddings are reported and are not model calls', async () => {
    const embedding = exchange(1, {
      route: 'embeddings',
      uri: 'https://api.openai.com/v1/embeddings',
      asked: { model: 'e', input: 'x' },
      reply: { data: [], usage: { total_tokens: 7 } },
    });
    const trace = await readOne([embedding, { ...first, i: 2 }, { ...second, i: 3 }]);
    expect(totals(trace).llmCalls).toEqual({ exact: true, value: 2 });
    expect(trace.warnings).toMatchObject([
      { code: 'EMBEDDINGS_NOT_PRICED', message: expect.stringContaining('7 tokens') },
    ]);
    expect(trace.captured.llmCalls).toBe('full');
  });

  test('times are measured', async () => {
    const [step] = (await readOne([first, second])).steps;
    expect(step).toMatchObject({ t0: AT + 1000, t1: AT + 1500, timing: 'measured' });
  });

  test('two conversations of a provider whose calls have no ids keep their results apart', async () => {
    const gemini = (i: number, contents: object[], parts: object[]) =>
      exchange(i, {
        route: 'generate',
        uri: 'https://generativelanguage.googleapis.com/v1beta/models/g:generateContent',
        asked: { contents },
        reply: {
          candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
          responseId: `g${i}`,
        },
      });
    const talk = (well: string) => {
      const asked = { role: 'user', parts: [{ text: `How deep is ${well}?` }] };
      const parts = [{ functionCall: { name: 'sounding', args: { well } } }];
      const result = {
        role: 'user',
        parts: [{ functionResponse: { name: 'sounding', response: { output: `${well}: 5 m` } } }],
      };
      return { asked, parts, history: [asked, { role: 'model', parts }, result] };
    };
    const [north, south] = [talk('north'), talk('south')];
    const trace = await readOne([
      gemini(1, [north.asked], north.parts),
      gemini(2, [south.asked], south.parts),
      gemini(3, south.history, [{ text: 'South: 5 m' }]),
      gemini(4, north.history, [{ text: 'North: 5 m' }]),
    ]);
    const calls = trace.steps.filter((step): step is ToolStep => step.kind === 'tool');
    expect(calls.map(({ args, result }) => [args, JSON.stringify(result)])).toEqual([
      [{ well: 'north' }, expect.stringContaining('north')],
      [{ well: 'south' }, expect.stringContaining('south')],
    ]);
  });

  test.each([
    ['text', Buffer.from('Größe 😀')],
    ['half a character', Buffer.from('😀').subarray(0, 2)],
    ['the replacement character itself', Buffer.from('\uFFFD')],
    ['bytes', Buffer.from([0, 255, 1])],
  ])('bytes survive the file: %s', (_, bytes) => {
    const written = JSON.parse(JSON.stringify(bytesToJson(bytes))) as string | { b64: string };
    const read =
      typeof written === 'string' ? Buffer.from(written) : Buffer.from(written.b64, 'base64');
    expect(read.equals(bytes)).toBe(true);
  });
});

describe('exchanges and spans of one run', () => {
  const nano = (ms: number): string => `${ms}000000`;
  const attributes = (values: Record<string, string | number>) =>
    Object.entries(values).map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
    }));
  interface Given {
    readonly id: string;
    readonly parent?: string;
    readonly name: string;
    readonly from: number;
    readonly to: number;
    readonly values: Record<string, string | number>;
    readonly isError?: boolean;
  }
  const span = ({ id, parent, name, from, to, values, isError }: Given) => ({
    traceId: '0'.repeat(31).concat('1'),
    spanId: id.padStart(16, '0'),
    ...(parent === undefined ? {} : { parentSpanId: parent.padStart(16, '0') }),
    name,
    startTimeUnixNano: nano(from),
    endTimeUnixNano: nano(to),
    attributes: attributes(values),
    status: { code: isError === true ? 2 : 0 },
  });
  const request = (...spans: Given[]) => ({
    value: {
      resourceSpans: [
        { resource: {}, scopeSpans: [{ scope: { name: 't' }, spans: spans.map(span) }] },
      ],
    },
  });
  const chatSpan = (
    id: string,
    from: number,
    to: number,
    values: Record<string, string | number> = {},
  ): Given => ({
    id,
    parent: 'a',
    name: 'chat m',
    from,
    to,
    values: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', ...values },
  });
  const agent: Given = {
    id: 'a',
    name: 'invoke_agent helper',
    from: AT,
    to: AT + 9000,
    values: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'helper' },
  };
  const tool = (values: Record<string, string | number>, isError = false): Given => ({
    id: 'f',
    parent: 'a',
    name: 'execute_tool sounding',
    from: AT + 1600,
    to: AT + 1900,
    values: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'sounding', ...values },
    isError,
  });
  const build = (telemetry: { value: unknown }[], exchanges = [first, second]): Trace => {
    const [item] = capturedTrace({
      id: 'r',
      exchanges: exchanges.map((value) => ({ value })),
      telemetry,
    });
    if (item?.ok !== true) throw new Error('no trace');
    return item.trace;
  };
  const shape = (trace: Trace): string[] =>
    trace.steps.map((step) => ('name' in step ? `${step.kind} ${step.name}` : step.kind));

  test.each([
    [
      'the id of the reply',
      [
        chatSpan('b', AT, AT + 9000, { 'gen_ai.response.id': 'a' }),
        chatSpan('c', AT, AT + 9000, { 'gen_ai.response.id': 'b' }),
      ],
    ],
    ['time', [chatSpan('b', AT + 990, AT + 1510), chatSpan('c', AT + 1990, AT + 2510)]],
  ])('a call that both tell of is one step, by %s', (_, spans) => {
    const trace = build([request(agent, ...spans, tool({ 'gen_ai.tool.call.id': 'c1' }))]);
    expect(shape(trace)).toEqual(['agent helper', 'llm', 'tool sounding', 'llm']);
    const [llm] = trace.steps.filter((step): step is LlmStep => step.kind === 'llm');
    expect(llm).toMatchObject({
      agent: 'helper',
      usage: { input: 10, output: 5 },
      responseId: 'a',
    });
    expect(llm!.output!.calls).toHaveLength(1);
    expect(trace.captured).toMatchObject({ llmCalls: 'full', toolCalls: 'full' });
    expect(trace.warnings).toEqual([]);
  });

  test('a tool whose span failed has failed, even if its message disagrees', () => {
    const trace = build([request(agent, tool({ 'gen_ai.tool.call.id': 'c1' }, true))]);
    const [call] = trace.steps.filter((step): step is ToolStep => step.kind === 'tool');
    expect(call).toMatchObject({
      status: 'error',
      result: '11 m',
      args: { well: 'north' },
      evidence: ['span', 'message'],
    });
  });

  test('a tool that only a span tells of is there too', () => {
    const trace = build([
      request(agent, tool({ 'gen_ai.tool.call.id': 'c1' }), {
        ...tool({ 'gen_ai.tool.name': 'dig' }),
        id: 'd',
        from: AT + 3000,
        to: AT + 3100,
        name: 'execute_tool dig',
      }),
    ]);
    expect(trace.steps.filter(({ kind }) => kind === 'tool')).toHaveLength(2);
    expect(trace.captured.toolCalls).toBe('full');
  });

  test('a model call that only a span tells of was not seen: calls are partly known', () => {
    const trace = build([
      request(
        agent,
        chatSpan('b', AT + 990, AT + 1510),
        chatSpan('c', AT + 1990, AT + 2510),
        chatSpan('e', AT + 6000, AT + 7000),
      ),
    ]);
    expect(trace.captured).toMatchObject({ llmCalls: 'partial', toolCalls: 'partial' });
    expect(trace.warnings.map(({ code }) => code)).toContain('SPAN_WITHOUT_EXCHANGE');
  });

  test('spans without any exchange are read as spans are', () => {
    const trace = build([request(agent, tool({}))], []);
    expect([shape(trace), trace.captured.llmCalls]).toEqual([
      ['agent helper', 'tool sounding'],
      'none',
    ]);
  });

  test('calls in quick succession each find their own span, not the next one close by', () => {
    const times = [
      [1020, 20],
      [1065, 5],
      [1079, 41],
    ] as const;
    const three = times.map(([at, end], i) => ({
      ...(i === 0 ? first : second),
      i: i + 1,
      at: AT + at,
      end_ms: end,
    }));
    const spans = [
      chatSpan('b', AT + 1000, AT + 1060),
      chatSpan('c', AT + 1062, AT + 1075),
      chatSpan('d', AT + 1077, AT + 1125),
    ];
    const trace = build([request(agent, ...spans)], three);
    expect(trace.steps.filter(({ kind }) => kind === 'llm')).toHaveLength(3);
    expect(trace.warnings.map(({ code }) => code)).not.toContain('SPAN_WITHOUT_EXCHANGE');
    expect(trace.captured.llmCalls).toBe('full');
  });

  test('calls side by side each find their own span', () => {
    const two = [first, { ...second, at: first.at + 10 }];
    const trace = build(
      [request(agent, chatSpan('b', AT + 990, AT + 1600), chatSpan('c', AT + 995, AT + 1600))],
      two,
    );
    expect(trace.steps.filter(({ kind }) => kind === 'llm')).toHaveLength(2);
    expect(trace.captured.llmCalls).toBe('full');
  });

  const asksRefund = JSON.stringify([
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'q', name: 'refund', arguments: {} }] },
  ]);
  test.each([
    ['of another model', { 'gen_ai.request.model': 'claude-opus-4-1' }, 'SPAN_WITHOUT_EXCHANGE'],
    ['of a smaller model', { 'gen_ai.request.model': 'm-mini' }, 'SPAN_WITHOUT_EXCHANGE'],
    ['of another provider', { 'gen_ai.provider.name': 'anthropic' }, 'SPAN_WITHOUT_EXCHANGE'],
    ['of another reply', { 'gen_ai.response.id': 'msg_01' }, 'SPAN_WITHOUT_EXCHANGE'],
    ['of the same reply', { 'gen_ai.response.id': 'b' }, 'SPAN_DISAGREES'],
    ['around the same call', {}, 'SPAN_DISAGREES'],
  ])('a call that only a span %s has counts, and more may be missing', (_, values, code) => {
    const other = chatSpan('c', AT + 1990, AT + 2510, {
      'gen_ai.output.messages': asksRefund,
      ...values,
    });
    const trace = build([request(agent, chatSpan('b', AT + 990, AT + 1510), other)]);
    expect(shape(trace)).toContain('tool refund');
    expect(trace.captured.toolCalls).toBe('partial');
    expect(trace.warnings.map((warning) => warning.code)).toContain(code);
  });

  test.each([
    ['with a date', { 'gen_ai.request.model': 'm-2026-01-01' }],
    ['with its provider', { 'gen_ai.request.model': 'openai/m', 'gen_ai.system': 'openai' }],
    ['of Azure', { 'gen_ai.system': 'az.ai.openai' }],
    ['of a provider that is not known', { 'gen_ai.system': 'in-house' }],
  ])('a span that names the model %s is of the same call', (_, values) => {
    const spans = [
      chatSpan('b', AT + 990, AT + 1510, values),
      chatSpan('c', AT + 1990, AT + 2510, values),
    ];
    const trace = build([request(agent, ...spans, tool({ 'gen_ai.tool.call.id': 'c1' }))]);
    expect(trace.steps.filter(({ kind }) => kind === 'llm')).toHaveLength(2);
    expect(trace.warnings).toEqual([]);
  });
});

test('two requests are two calls, even in one millisecond and with replies of one id', () => {
  const alike = [1, 2].map((i) =>
    exchange(i, { at: AT, asked: { model: 'm', messages: [user] }, reply: chat(says, 'r') }),
  );
  const [item] = capturedTrace({ exchanges: alike.map((value) => ({ value })) });
  expect(item).toMatchObject({ ok: true, trace: { steps: [{ kind: 'llm' }, { kind: 'llm' }] } });
  expect(JSON.stringify(item)).not.toContain('isRequest');
});

describe('a history that holds a call which no reply asked for', () => {
  const forged = (name: string) => [
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ ...call, id: 'f1', function: { name, arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'f1', content: 'Successfully transferred back.' },
  ];
  const read = (name: string) =>
    readOne(
      [
        first,
        exchange(2, {
          asked: {
            model: 'm',
            messages: [
              user,
              asks,
              { role: 'tool', tool_call_id: 'c1', content: '11 m' },
              ...forged(name),
            ],
          },
          reply: chat(says, 'b'),
        }),
      ]
        .map((line) => JSON.stringify(line))
        .join('\n'),
    );

  test.each([
    { name: 'transfer_back_to_supervisor', calls: ['sounding'] },
    // A call that may have run elsewhere is kept.
    { name: 'dig', calls: ['sounding', 'dig'] },
  ])('leaves tokens as they were measured: $name', async ({ name, calls }) => {
    const trace = await read(name);
    expect(totals(trace).totalTokens).toEqual({ exact: true, value: 30 });
    expect(trace.captured.llmCalls).toBe('full');
    expect(trace.steps.flatMap((step) => (step.kind === 'tool' ? [step.name] : []))).toEqual(calls);
  });
});
