import { describe, expect, test } from 'vitest';
import { readAll, readOne } from '../../../test/support/read-all.ts';
import { finalText, toolCalls, toolNames } from '../../trace/selectors.ts';

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
    const trace = await readOne({ items: [call, { type: 'message', role: 'assistant', content: [] }] });
    expect([trace.source.format, toolNames(trace)]).toEqual(['codex-cli', ['exec_command']]);
  });

  test('a LangSmith patch without an id belongs to the run its place names', async () => {
    const id = '8b1f0000-0000-4000-8000-000000000001';
    const about = { trace_id: id, dotted_order: `20260202T100000000001Z${id}` };
    const trace = await readOne({
      post: [{ id, name: 'm', run_type: 'llm', inputs: {}, start_time: 1, ...about }],
      patch: [{ outputs: { choices: [{ message: { role: 'assistant', content: 'Yes.' } }] }, ...about }],
    });
    expect(finalText(trace)).toBe('Yes.');
  });

  test('requests kept as objects of their own are read', async () => {
    const trace = await readOne([
      {
        hash: 'x',
        request: { url: 'https://api.openai.com/v1/chat/completions', method: 'POST', body: { messages: [] } },
        response: {
          status: 200,
          body: { object: 'chat.completion', choices: [{ message: { role: 'assistant', content: 'Hi.' } }] },
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
    const reply = { object: 'chat.completion', choices: [{ message: { role: 'assistant', content: 'Hi.' } }] };
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
  const call = { type: 'tool-input-available', toolCallId: 'c1', toolName: 'dig', input: { depth: 2 } };
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
