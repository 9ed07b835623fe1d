import { readAll, readOne } from '@agentci/testing/read-all';
import { finalText, type Trace, toolCalls } from '@agentci/trace';
import { describe, expect, test } from 'vitest';

// Shapes of recordings that were once read wrongly without a word.

const lines = (...records: readonly unknown[]): string =>
  records.map((record) => JSON.stringify(record)).join('\n');
const callsOf = (trace: Trace): string[] =>
  toolCalls(trace).map(({ name, args }) => `${name}(${JSON.stringify(args)})`);

describe('a streamed chat completion', () => {
  const chunk = (choice: object) => ({
    id: 'c',
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, finish_reason: null, ...choice }],
  });
  const end = chunk({ delta: {}, text: '', finish_reason: 'stop' });
  test.each([
    {
      when: 'a piece is both text and the content of its delta',
      pieces: [
        chunk({ text: 'No ', delta: { role: 'assistant', content: 'No ' } }),
        chunk({ text: 'refund', delta: { content: 'refund' } }),
      ],
    },
    {
      when: 'the delta is empty next to a text',
      pieces: [
        chunk({ text: 'No ', delta: {} }),
        chunk({ text: 'refund', delta: { content: '' } }),
      ],
    },
    {
      when: 'there is a delta alone',
      pieces: [chunk({ delta: { content: 'No ' } }), chunk({ delta: { content: 'refund' } })],
    },
  ])('says each piece once when $when', async ({ pieces }) => {
    expect(finalText(await readOne(lines(...pieces, end)))).toBe('No refund');
  });
});

describe('an observation of Langfuse', () => {
  const asking = (args?: object) => ({
    id: 'g1',
    type: 'GENERATION',
    name: 'm',
    startTime: '2026-05-01T10:00:00Z',
    input: [{ role: 'user', content: 'hi' }],
    output: {
      role: 'assistant',
      content: args === undefined ? 'Done.' : null,
      tool_calls:
        args === undefined
          ? undefined
          : [
              {
                id: 'c1',
                type: 'function',
                function: { name: 'run', arguments: JSON.stringify(args) },
              },
            ],
    },
  });
  const ran = (input: unknown) => ({
    id: 'o2',
    type: 'TOOL',
    name: 'run',
    startTime: '2026-05-01T10:00:01Z',
    input,
    output: 'ok',
  });
  test.each([
    {
      when: 'its only argument is a text named input',
      asked: undefined,
      input: { input: 'rm -rf /' },
      call: 'run({"input":"rm -rf /"})',
    },
    {
      when: 'its only argument is an object named input, as in the reply',
      asked: { input: { path: '/' } },
      input: { input: { path: '/' } },
      call: 'run({"input":{"path":"/"}})',
    },
    {
      when: 'the arguments are wrapped',
      asked: { path: '/' },
      input: '{"input":"{\\"path\\":\\"/\\"}"}',
      call: 'run({"path":"/"})',
    },
  ])('has its arguments when $when', async ({ asked, input, call }) => {
    const recording = {
      trace: { id: 't', input: 'hi', output: 'Done.' },
      observations: [asking(asked), ran(input)],
    };
    expect(callsOf(await readOne(recording))).toEqual([call]);
  });
});

describe('a client that does not send the id of a call back', () => {
  const ask = { role: 'user', parts: [{ text: 'Refund it.' }] };
  const call = (id?: string) => ({ functionCall: { id, name: 'refund', args: { b: 2, a: 1 } } });
  const replied = (part: object, i: number) => ({
    responseId: `r${i}`,
    modelVersion: 'm',
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
  });
  const gemini = (contents: object[], part: object, i: number) => ({
    uri: 'https://generativelanguage.googleapis.com/v1beta/models/m:generateContent',
    request: { contents },
    response: replied(part, i),
  });
  const result = { functionResponse: { name: 'refund', response: { output: 'ok' } } };
  const later = [
    ask,
    { role: 'model', parts: [{ functionCall: { name: 'refund', args: { a: 1, b: 2 } } }] },
    { role: 'user', parts: [result] },
  ];
  test('makes one run with one call, as Gemini writes it', async () => {
    const trace = await readOne(
      lines(gemini([ask], call('x1'), 1), gemini(later, { text: 'Done.' }, 2)),
    );
    expect(callsOf(trace)).toEqual(['refund({"b":2,"a":1})']);
    expect(trace.captured.toolCalls).toBe('full');
  });

  const item = (call_id: string) => ({
    type: 'function_call',
    id: 'fc_1',
    call_id,
    name: 'refund',
    arguments: '{}',
  });
  const responses = (input: object[], output: object[], i: number) => ({
    uri: 'https://api.openai.com/v1/responses',
    request: { model: 'm', input },
    response: { id: `resp_${i}`, object: 'response', model: 'm', status: 'completed', output },
  });
  test('makes one run with one call, as Responses write it', async () => {
    const asked = { role: 'user', content: 'Refund it.' };
    const done = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Done.' }],
    };
    const trace = await readOne(
      lines(
        responses([asked], [item('call_1')], 1),
        responses(
          [asked, item('fc_1'), { type: 'function_call_output', call_id: 'fc_1', output: 'ok' }],
          [done],
          2,
        ),
      ),
    );
    expect(callsOf(trace)).toEqual(['refund({})']);
    expect(trace.captured.toolCalls).toBe('full');
  });

  test('still has two calls when the model asked twice', async () => {
    const again = [...later, { role: 'model', parts: [call()] }, { role: 'user', parts: [result] }];
    const trace = await readOne(
      lines(
        gemini([ask], call('x1'), 1),
        gemini(later, call('x2'), 2),
        gemini(again, { text: 'Done.' }, 3),
      ),
    );
    expect(callsOf(trace)).toHaveLength(2);
  });
});

describe('a run with its ending next to its messages', () => {
  const messages = [
    { role: 'user', content: 'Refund it.' },
    { role: 'assistant', content: 'I refund it.' },
  ];
  test.each([
    { says: { terminal_event: 'RUN_ERROR' }, status: 'error' },
    { says: { terminal_event: { type: 'RUN_ERROR' } }, status: 'error' },
    { says: { error: 'connection lost' }, status: 'error' },
    { says: { error: { message: 'connection lost' } }, status: 'error' },
    { says: { status: 'failed' }, status: 'error' },
    { says: { status: 'cancelled' }, status: 'incomplete' },
    { says: { status: 'completed', error: null }, status: 'ok' },
    { says: { status: 'success', error: '' }, status: 'ok' },
  ])('$says is $status', async ({ says, status }) => {
    expect((await readOne({ id: 'r', ...says, messages })).status).toBe(status);
  });
});

describe('the lines of another program', () => {
  const event = (type: string, data: object, i: number) => ({
    type,
    data,
    id: `e${i}`,
    timestamp: '2026-01-01T00:00:00Z',
    parentId: i === 0 ? null : `e${i - 1}`,
  });
  const note = (fields: object) => ({ session_id: 's1', timestamp: 1, ...fields });
  test.each([
    {
      by: 'the updates of .NET',
      recording: lines(
        { role: 'assistant', contents: [], responseId: 'r', modelId: 'm' },
        { role: 'assistant', contents: [{ $type: 'text', text: 'Hi' }], responseId: 'r' },
      ),
    },
    {
      by: 'Factory',
      recording: lines(
        note({ type: 'system', subtype: 'init', cwd: '/w', tools: ['Read'] }),
        note({ type: 'message', role: 'user', id: 'm1', text: 'Refund' }),
        note({ type: 'tool_call', id: 't1', toolName: 'Execute', parameters: { command: 'rm' } }),
        note({ type: 'completion', finalText: 'Done' }),
      ),
    },
    {
      by: 'Copilot',
      recording: lines(
        event('session.start', { sessionId: 's' }, 0),
        event('user.message', { content: 'Refund' }, 1),
        event('tool.execution_start', { toolCallId: 't1', toolName: 'bash', arguments: {} }, 2),
      ),
    },
    {
      by: 'Copilot, with its session',
      recording: lines(
        { ...event('tool.execution_start', { toolName: 'bash' }, 0), sessionId: 's' },
        { type: 'result', sessionId: 's', timestamp: '2026-01-01T00:00:00Z', exitCode: 0 },
      ),
    },
    {
      by: 'Grok',
      recording: lines(
        { type: 'assistant', content: 'x', tool_calls: [] },
        { type: 'assistant', content: 'Done', tool_calls: [] },
      ),
    },
    {
      by: 'a list in YAML that is no cassette',
      recording: 'interactions:\n- request: hi\n  response: {body: hello}\n',
    },
  ])('are not read as a run: $by', async ({ recording }) => {
    const { traces, problems } = await readAll(recording);
    expect(traces).toEqual([]);
    expect(problems.length).toBeGreaterThan(0);
  });

  test('that may be calls make what Claude Code wrote partly known', async () => {
    const said = (role: string, text: string) => ({
      type: role,
      session_id: 's',
      message: { role, content: [{ type: 'text', text }] },
    });
    const trace = await readOne(
      lines(
        said('user', 'hi'),
        { type: 'tool_call', session_id: 's', tool_call: { shellToolCall: {} } },
        said('assistant', 'Done.'),
        { type: 'result', subtype: 'success', is_error: false, result: 'Done.', session_id: 's' },
      ),
    );
    expect(trace.captured.toolCalls).toBe('partial');
  });
});

describe('a trajectory of SWE-agent', () => {
  const step = (action: string) => ({
    action,
    observation: 'o',
    response: '',
    thought: '',
    state: '{}',
    execution_time: 0.1,
  });
  const turn = (id: string, command: string) => [
    {
      role: 'assistant',
      content: '',
      agent: 'main',
      message_type: 'action',
      tool_calls: [
        {
          id,
          type: 'function',
          function: { name: 'bash', arguments: JSON.stringify({ command }) },
        },
      ],
    },
    {
      role: 'tool',
      content: 'OBSERVATION: o',
      agent: 'main',
      message_type: 'observation',
      tool_call_ids: [id],
    },
  ];
  const run = (actions: readonly string[], history: readonly string[]) => ({
    environment: 'e',
    trajectory: actions.map(step),
    history: [
      { role: 'user', content: 'fix', agent: 'main', message_type: 'observation' },
      ...history.flatMap((command, i) => turn(`c${i}`, command)),
    ],
    info: { exit_status: 'submitted', submission: '+x' },
  });

  test('has an action in its middle that the history lacks', async () => {
    const trace = await readOne(run(['ls', 'rm -rf x', 'submit'], ['ls', 'submit']));
    expect(toolCalls(trace).map(({ args }) => (args as { command: string }).command)).toEqual([
      'ls',
      'rm -rf x',
      'submit',
    ]);
  });

  test('is partly known when more actions ran than its history shows', async () => {
    const { trajectory, ...rest } = run(['ls', 'rm -rf x', 'submit'], ['list files', 'send it']);
    const trace = await readOne({ trajectory, ...rest });
    expect(trace.captured.toolCalls).toBe('partial');
  });
});
