import { gzipSync } from 'node:zlib';
import { readAll, readOne } from '@agentci/testing/read-all';
import { finalText, queryText, toolCalls, toolNames } from '@agentci/trace';
import { describe, expect, test } from 'vitest';

describe('records that somebody wrapped', () => {
  const line = (type: string, content: unknown) => ({
    type,
    timestamp: '2026-02-02T10:00:00Z',
    message: { role: type, content },
  });

  test('lines of Claude Code under loglines are one session', async () => {
    const asks = line('assistant', [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }]);
    const trace = await readOne({ loglines: [line('user', 'q'), asks] });
    expect([trace.source.format, toolNames(trace)]).toEqual(['claude-code-transcript', ['Bash']]);
  });

  test('items of Codex under items are one session', async () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'exec_command', arguments: '{}' };
    const trace = await readOne({
      items: [call, { type: 'message', role: 'assistant', content: [] }],
    });
    expect([trace.source.format, toolNames(trace)]).toEqual(['codex-cli', ['exec_command']]);
  });

  test('a LangSmith patch without an id belongs to the run its place names', async () => {
    const id = '8b1f0000-0000-4000-8000-000000000001';
    const about = { trace_id: id, dotted_order: `20260202T100000000001Z${id}` };
    const trace = await readOne({
      post: [{ id, name: 'm', run_type: 'llm', inputs: {}, start_time: 1, ...about }],
      patch: [
        { outputs: { choices: [{ message: { role: 'assistant', content: 'Yes.' } }] }, ...about },
      ],
    });
    expect(finalText(trace)).toBe('Yes.');
  });

  test('reads requests stored as separate objects', async () => {
    const trace = await readOne([
      {
        hash: 'x',
        request: {
          url: 'https://api.openai.com/v1/chat/completions',
          method: 'POST',
          body: { messages: [] },
        },
        response: {
          status: 200,
          body: {
            object: 'chat.completion',
            choices: [{ message: { role: 'assistant', content: 'Hi.' } }],
          },
        },
      },
    ]);
    expect(finalText(trace)).toBe('Hi.');
  });

  test('a list under any name is read as what it holds', async () => {
    const messages = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'dig', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }] },
    ];
    const trace = await readOne({ my_dump: messages });
    expect([trace.source.format, toolNames(trace)]).toEqual(['anthropic-messages', ['dig']]);
  });

  test('a wrapper that is not read is named, with what it holds', async () => {
    const reply = {
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: 'Hi.' } }],
    };
    const { problems } = await readAll({ my_dump: reply });
    expect(problems).toMatchObject([
      {
        code: 'TRACE_UNKNOWN_FORMAT',
        message: expect.stringMatching(/under "my_dump" looks like openai-chat-completions/),
      },
    ]);
  });
});

describe('parts of a stream of the AI SDK', () => {
  const start = { type: 'start-step' };
  const call = {
    type: 'tool-input-available',
    toolCallId: 'c1',
    toolName: 'dig',
    input: { depth: 2 },
  };
  const end = { type: 'finish' };

  test('are steps with their calls and results', async () => {
    const denied = { type: 'tool-output-denied', toolCallId: 'c1' };
    const trace = await readOne([start, call, denied, { type: 'finish-step' }, end]);
    expect(toolCalls(trace)).toMatchObject([{ name: 'dig', args: { depth: 2 }, status: 'error' }]);
    expect(trace.captured.toolCalls).toBe('full');
  });

  test('come from the whole stream too', async () => {
    const parts = [
      start,
      { type: 'tool-call', toolCallId: 'c1', toolName: 'dig', input: {} },
      { type: 'tool-result', toolCallId: 'c1', toolName: 'dig', output: 'ok' },
      {
        type: 'finish-step',
        finishReason: 'tool-calls',
        usage: { inputTokens: 3, outputTokens: 1 },
        response: { id: 'r1' },
      },
      end,
    ];
    const trace = await readOne(parts);
    expect(toolCalls(trace)).toMatchObject([{ name: 'dig', result: 'ok', status: 'ok' }]);
  });

  test('without their end are cut off', async () => {
    expect((await readOne([start, call])).captured.toolCalls).toBe('partial');
  });

  test('without a name leave a call that is not named', async () => {
    const { captured } = await readOne([
      start,
      { type: 'tool-output-available', toolCallId: 'c9', output: 1 },
      call,
      end,
    ]);
    expect(captured.toolCalls).toBe('partial');
  });
});

describe('what recorders keep of an exchange', () => {
  const reply = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'tool_use', id: 't1', name: 'look', input: {} }],
    stop_reason: 'tool_use',
  };
  const chat = {
    choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  };
  const events = `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { ...reply, content: [] } })}\n\nevent: content_block_start\ndata: ${JSON.stringify({ type: 'content_block_start', index: 0, content_block: reply.content[0] })}\n\nevent: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}\n\n`;
  const intercepted = (response: unknown) => [
    {
      scope: 'https://x.test:443',
      method: 'POST',
      path: '/model/m/invoke',
      body: { messages: [] },
      status: 200,
      response,
    },
  ];
  const packed = gzipSync(JSON.stringify(reply)).toString('hex');

  test.each([
    ['a response alone', { status: 200, headers: {}, body: JSON.stringify(reply) }, ['look']],
    ['a streamed response alone', { status: 200, headers: {}, body: events }, ['look']],
    ['the parts side by side', intercepted(reply), ['look']],
    [
      'a packed body in hexadecimal pieces',
      intercepted([packed.slice(0, 40), packed.slice(40)]),
      ['look'],
    ],
    [
      'a body behind a note that it is base64',
      intercepted(`base64:${gzipSync(JSON.stringify(reply)).toString('base64')}`),
      ['look'],
    ],
    ['choices without the kind of their object', intercepted(chat), []],
    [
      'bodies under content',
      [
        {
          request: { url: 'https://x.test/v1/messages', content: '{}' },
          response: { status_code: 200, content: JSON.stringify(reply) },
        },
      ],
      ['look'],
    ],
  ])('%s', async (_, recording, names) => {
    const trace = await readOne(recording);
    expect(toolNames(trace)).toEqual(names);
    expect(trace.captured.llmCalls).not.toBe('none');
  });

  test('a response alone says what it called', async () => {
    const trace = await readOne({ status: 200, headers: {}, body: JSON.stringify(reply) });
    expect(trace).toMatchObject({ captured: { toolCalls: 'full' }, warnings: [] });
  });
});

describe('messages with less around them than usual', () => {
  test('a line of Claude Code may have its role in its type alone', async () => {
    const line = (type: string, content: unknown) => ({
      type,
      timestamp: '2026-02-02T10:00:00Z',
      message: { content },
    });
    const asks = line('assistant', [{ type: 'tool_use', id: 't1', name: 'Read', input: {} }]);
    const trace = await readOne([line('user', 'q'), asks, line('assistant', 'Done.')]);
    expect([toolNames(trace), finalText(trace), trace.captured.llmCalls]).toEqual([
      ['Read'],
      'Done.',
      'full',
    ]);
  });

  test('lines of Claude Code may carry the direction they went in', async () => {
    const sent = { type: 'user', session_id: 'default', message: { role: 'user', content: 'q' } };
    const message = { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] };
    const trace = await readOne({
      metadata: { cli_version: '1' },
      messages: [
        { direction: 'send', message: { type: 'control_request', request_id: 'r', request: {} } },
        { direction: 'send', message: sent },
        { direction: 'recv', message: { type: 'assistant', session_id: 's1', message } },
        {
          direction: 'recv',
          message: { type: 'result', subtype: 'success', session_id: 's1', result: 'Done.' },
        },
      ],
    });
    expect([trace.id, queryText(trace), finalText(trace)]).toEqual(['s1', 'q', 'Done.']);
  });

  test('calls in the content with the role of their result are calls, once', async () => {
    const call = {
      id: 'c1',
      type: 'function',
      function: { name: 'greet', arguments: { name: 'Bob' } },
    };
    const asked = { role: 'assistant', content: [call], finish_reason: 'tool_calls' };
    const generation = { type: 'GENERATION', name: 'llm', model: 'm' };
    const trace = await readOne({
      trace: { id: 't' },
      observations: [
        {
          ...generation,
          id: 'a',
          startTime: '2026-02-02T10:00:00Z',
          input: [{ role: 'user', content: 'q' }],
          output: [asked],
        },
        {
          id: 'b',
          type: 'SPAN',
          name: 'tool.greet',
          startTime: '2026-02-02T10:00:01Z',
          input: { name: 'Bob' },
          output: 'Hi!',
        },
        {
          ...generation,
          id: 'c',
          startTime: '2026-02-02T10:00:02Z',
          input: [
            { role: 'user', content: 'q' },
            { role: 'tool', content: [call] },
            { role: 'tool', content: 'Hi!' },
          ],
          output: [{ role: 'assistant', content: 'Hi, Bob.' }],
        },
      ],
    });
    expect(toolCalls(trace)).toMatchObject([{ name: 'greet', result: 'Hi!' }]);
    expect(trace.captured.toolCalls).toBe('full');
  });

  test('Goose writes calls and results with their status around them', async () => {
    const toolCall = { status: 'success', value: { name: 'shell', arguments: { command: 'ls' } } };
    const toolResult = {
      status: 'success',
      value: { content: [{ type: 'text', text: 'a.txt' }], isError: false },
    };
    const trace = await readOne([
      { role: 'user', created: 1, content: [{ type: 'text', text: 'q' }] },
      { role: 'assistant', created: 2, content: [{ type: 'toolRequest', id: 'c1', toolCall }] },
      { role: 'user', created: 3, content: [{ type: 'toolResponse', id: 'c1', toolResult }] },
      { role: 'assistant', created: 4, content: [{ type: 'text', text: 'One file.' }] },
    ]);
    expect(toolCalls(trace)).toMatchObject([
      { name: 'shell', args: { command: 'ls' }, result: 'a.txt', status: 'ok' },
    ]);
    expect(trace.captured.toolCalls).toBe('full');
  });

  test('chunks of a content filter belong to no reply', async () => {
    const chunk = (delta: object, finish_reason: string | null) => ({
      id: 'c1',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason }],
    });
    const note = { id: '', object: '', model: '', choices: [], prompt_filter_results: [] };
    const stream = [
      note,
      chunk({ role: 'assistant', content: 'Yes.' }, null),
      chunk({}, 'stop'),
      note,
    ];
    const trace = await readOne(
      stream.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
    );
    expect([finalText(trace), trace.captured.toolCalls, trace.captured.llmCalls]).toEqual([
      'Yes.',
      'full',
      'full',
    ]);
  });

  test.each([
    ['a summary in place of the messages', { kind: 'compaction_summary' }],
    ['a count of the messages that were taken out', { messagesRemoved: 22 }],
  ])('%s leaves the calls partly known', async (_, metadata) => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Context summary' }], metadata },
      { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
    ];
    expect((await readOne({ sessionId: 's', messages })).captured.toolCalls).toBe('partial');
  });

  test('a blank line before JSON does not make it protobuf', async () => {
    expect((await readAll(`\n{\n  "query": "q", "answer": "a"}`)).problems).toEqual([]);
  });

  test('a stream whose last event leaves the output out has it in its items', async () => {
    const item = { type: 'function_call', id: 'f', call_id: 'c', name: 'look', arguments: '{}' };
    const trace = await readOne([
      { type: 'response.created', response: { id: 'r', object: 'response', output: [] } },
      { type: 'response.output_item.done', output_index: 0, item },
      {
        type: 'response.completed',
        response: { id: 'r', object: 'response', status: 'completed', output: [] },
      },
    ]);
    expect(toolNames(trace)).toEqual(['look']);
  });
});
