import { readOne } from '@agentci/testing/read-all';
import { describe, expect, test } from 'vitest';

const said = (content: string, ...rest: unknown[]) => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Clean up.' }, { role: 'assistant', content }, ...rest],
});
const beside = (rest: object) => ({ ...said('Done.'), ...rest });
const lines = (...records: object[]) => records.map((record) => JSON.stringify(record)).join('\n');

const base = {
  isSidechain: false,
  cwd: '/',
  sessionId: 'S',
  version: '2.1.0',
  timestamp: '2026-05-04T08:00:00Z',
};
const transcript = (line: object) =>
  lines(
    {
      ...base,
      parentUuid: null,
      type: 'user',
      uuid: 'u1',
      message: { role: 'user', content: 'Clean up.' },
    },
    { ...base, parentUuid: 'u1', uuid: 'x1', ...line },
    {
      ...base,
      parentUuid: 'u1',
      type: 'assistant',
      uuid: 'a1',
      message: {
        id: 'm1',
        role: 'assistant',
        content: [{ type: 'text', text: 'Done.' }],
        stop_reason: 'end_turn',
      },
    },
  );
const streamJson = (line: object, result: object = {}) =>
  lines(
    { type: 'system', subtype: 'init', session_id: 'S', tools: ['Bash'], model: 'm', cwd: '/' },
    line,
    {
      type: 'assistant',
      session_id: 'S',
      message: {
        id: 'm1',
        role: 'assistant',
        content: [{ type: 'text', text: 'Done.' }],
        stop_reason: 'end_turn',
      },
    },
    {
      type: 'result',
      subtype: 'success',
      is_error: false,
      num_turns: 1,
      result: 'Done.',
      session_id: 'S',
      ...result,
    },
  );
const codex = (payload: object) =>
  lines(
    ...[
      ['session_meta', { id: 's', cwd: '/', cli_version: '0.5' }],
      [
        'response_item',
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Clean up.' }] },
      ],
      ['event_msg', payload],
      [
        'response_item',
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] },
      ],
    ].map(([type, inner]) => ({ timestamp: '2026-05-04T08:00:00Z', type, payload: inner })),
  );
const anthropicStream = (...blocks: object[]) =>
  lines(
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'c',
        content: [],
        usage: { input_tokens: 1 },
      },
    },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 6 } },
    { type: 'message_stop' },
  );
const textBlock = (index: number) => [
  { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'Done.' } },
  { type: 'content_block_stop', index },
];
const responses = (events: object[], rest: object = {}) => {
  const whole = { id: 'r', object: 'response', created_at: 1, model: 'm', output: [], ...rest };
  const message = {
    type: 'message',
    id: 'm',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Done.' }],
  };
  return lines(
    { type: 'response.created', response: { ...whole, status: 'in_progress' } },
    ...events,
    { type: 'response.output_item.done', output_index: events.length, item: message },
    { type: 'response.completed', response: { ...whole, status: 'completed', output: [message] } },
  );
};
const atif = (steps: object[], rest: object = {}) => ({
  schema_version: 'ATIF-v1.6',
  session_id: 'm',
  agent: { name: 'a', version: '1', model_name: 'g' },
  steps,
  ...rest,
});
const openHands = (event: object) => [
  {
    id: 1,
    timestamp: '2026-01-09T12:00:01',
    source: 'user',
    action: 'message',
    args: { content: 'Clean up.' },
  },
  { id: 2, timestamp: '2026-01-09T12:00:02', source: 'agent', ...event },
  {
    id: 9,
    timestamp: '2026-01-09T12:00:03',
    source: 'agent',
    action: 'message',
    args: { content: 'Done.' },
  },
];

describe('an id of a call that is not there', () => {
  test.each<[string, unknown]>([
    ['the id that a provider gave, under any key', beside({ about: { ref: 'toolu_01abcdef' } })],
    [
      'compacted calls of Claude Code',
      transcript({ type: 'system', compactMetadata: { compactedToolIds: ['t1'] } }),
    ],
    [
      'a hook after a call',
      transcript({
        type: 'attachment',
        attachment: { hookName: 'PostToolUse:rm', toolUseID: 'toolu_1' },
      }),
    ],
    [
      'progress of a call',
      transcript({
        type: 'progress',
        toolUseID: 'bash-progress-1',
        parentToolUseID: 'toolu_1',
        data: {},
      }),
    ],
    [
      'a result beside a plain message',
      transcript({
        type: 'user',
        message: { role: 'user', content: 'ok' },
        toolUseResult: { stdout: 'x' },
      }),
    ],
    [
      'a message that a result came from',
      transcript({
        type: 'user',
        message: { role: 'user', content: 'ok' },
        sourceToolAssistantUUID: 'gone',
      }),
    ],
    [
      'a notification of a task',
      transcript({
        type: 'queue-operation',
        content: '<task-notification>\n<tool-use-id>toolu_1</tool-use-id>\n</task-notification>',
      }),
    ],
    [
      'a summary of calls in stream-json',
      streamJson({
        type: 'tool_use_summary',
        preceding_tool_use_ids: ['toolu_1'],
        session_id: 'S',
      }),
    ],
    [
      'a task that started in stream-json',
      streamJson({
        type: 'system',
        subtype: 'task_started',
        tool_use_id: 'toolu_1',
        session_id: 'S',
      }),
    ],
    [
      'a delta of a call in an AI SDK stream',
      lines(
        { type: 'start', messageId: 'm' },
        { type: 'start-step' },
        { type: 'tool-input-delta', toolCallId: 'c', inputTextDelta: '{}' },
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: 'Done.' },
        { type: 'text-end', id: 't' },
        { type: 'finish-step' },
        { type: 'finish' },
      ),
    ],
    [
      'output of a command in Codex',
      codex({ type: 'exec_command_output_delta', call_id: 'c', chunk: 'x' }),
    ],
    [
      'an item of Codex that ran',
      codex({ type: 'item_completed', item: { type: 'CommandExecution', id: 'c', command: 'rm' } }),
    ],
    ['a session that another was forked from', codex({ type: 'note', forked_from_id: 'gone' })],
    [
      'a served call that only its progress shows',
      responses([{ type: 'response.mcp_call.in_progress', output_index: 0, item_id: 'mcp_1' }]),
    ],
    [
      'events that were forgotten',
      openHands({ action: 'condensation', args: { forgotten_event_ids: [5, 6] } }),
    ],
    [
      'a sub-agent in a file of its own',
      atif([
        { step_id: 1, source: 'user', message: 'hi' },
        {
          step_id: 2,
          source: 'agent',
          message: '',
          tool_calls: [{ tool_call_id: '1', function_name: 'task', arguments: {} }],
          observation: {
            results: [
              {
                source_call_id: '1',
                content: 'x',
                subagent_trajectory_ref: [{ session_id: 'sub' }],
              },
            ],
          },
        },
        { step_id: 3, source: 'agent', message: 'Done.' },
      ]),
    ],
  ])('%s: tool calls are partly known', async (_, recording) => {
    expect((await readOne(recording)).captured.toolCalls).toBe('partial');
  });
});

describe('a name of a tool that no call has', () => {
  test.each<[string, unknown]>([
    [
      'a message of another role',
      said('Done.', { role: 'tool_result', name: 'rm', content: 'ok' }),
    ],
    ['a step with a tool and its output', beside({ steps: [{ tool: 'rm', output: 'ok' }] })],
    [
      'a list of tools with results',
      beside({ tools: [{ tool_name: 'rm', tool_args: {}, result: 'ok', tool_call_id: '1' }] }),
    ],
    ['the tool that was used', beside({ tool_used: 'rm' })],
    ['functions that were called', beside({ functions_called: ['rm'] })],
    ['calls that were executed', beside({ executed: [{ name: 'rm', status: 'ok' }] })],
    [
      'statistics by tool',
      beside({ stats: { tools: { totalCalls: 4, byName: { rm: { count: 4 } } } } }),
    ],
    [
      'metrics of Strands',
      {
        messages: [
          { role: 'user', content: [{ text: 'hi' }] },
          { role: 'assistant', content: [{ text: 'Done.' }] },
        ],
        metrics: { tool_metrics: { rm: { call_count: 2 } } },
      },
    ],
    [
      'a tool event of AgentUnit',
      {
        events: [
          { type: 'agent_prompt', payload: { content: 'hi' } },
          { type: 'tool_result', payload: { name: 'rm', result: 'ok' } },
          { type: 'agent_response', payload: { content: 'Done.' } },
        ],
        metadata: {},
      },
    ],
    [
      'a tool span',
      {
        trace_id: 't1',
        spans: [
          {
            kind: 'agent',
            name: 'docs',
            output_data: 'Done.',
            tool_calls: [],
            llm_calls: [{ model: 'g', tokens_in: 1, tokens_out: 1 }],
          },
          { kind: 'tool', name: 'rm', input_data: {}, tool_calls: [], llm_calls: [] },
        ],
        total_tokens: 2,
        metadata: { final_output: 'Done.' },
      },
    ],
    [
      'messages inside a message',
      {
        messages: [
          { type: 'TextMessage', source: 'user', content: 'hi' },
          {
            type: 'TextMessage',
            source: 'som',
            content: 'Done.',
            inner_messages: [
              {
                type: 'ToolCallRequestEvent',
                source: 'c',
                content: [{ id: '1', name: 'rm', arguments: '{}' }],
              },
            ],
          },
        ],
        stop_reason: null,
      },
    ],
    [
      'a step that is labelled as a tool',
      lines(
        { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
        { type: 'STEP_STARTED', stepName: 'tool:rm' },
        { type: 'STEP_FINISHED', stepName: 'tool:rm' },
        { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
        { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Done.' },
        { type: 'TEXT_MESSAGE_END', messageId: 'm' },
        { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
      ),
    ],
    [
      'what OpenHands notes of a call',
      openHands({
        action: 'message',
        args: { content: 'x' },
        tool_call_metadata: { function_name: 'rm', tool_call_id: '1' },
      }),
    ],
  ])('%s: tool calls are partly known', async (_, recording) => {
    expect((await readOne(recording)).captured.toolCalls).toBe('partial');
  });
});

describe('a number above the shown items', () => {
  const steps = [
    { step_id: 1, source: 'user', message: 'hi' },
    { step_id: 2, source: 'agent', message: 'Done.' },
  ];
  test.each<[string, unknown]>([
    [
      'a number in the place of calls',
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'Done.', tool_calls: 2 },
        ],
      },
    ],
    [
      'a call that is null',
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'Done.', tool_calls: [null] },
        ],
      },
    ],
    ['a count of tool uses', beside({ tool_use_count: 4 })],
    ['a count in another word', beside({ metrics: { numberOfToolCalls: 4 } })],
    [
      'an ending in the words of two vocabularies',
      beside({ finishReason: { unified: 'tool-calls', raw: 'TOOL_USE' } }),
    ],
    [
      'a total far above its parts',
      beside({ usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 90_000 } }),
    ],
    [
      'more cycles than replies',
      {
        messages: [
          { role: 'user', content: [{ text: 'hi' }] },
          { role: 'assistant', content: [{ text: 'Done.' }] },
        ],
        metrics: { cycle_count: 4 },
      },
    ],
    ['more steps than there are', atif(steps, { final_metrics: { total_steps: 9 } })],
    ['a hole in the numbers of steps', atif([steps[0]!, { ...steps[1], step_id: 5 }])],
    ['a first block that is gone', anthropicStream(...textBlock(1))],
    [
      'a piece of a block that was never opened',
      anthropicStream(
        {
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json: '{}' },
        },
        ...textBlock(1),
      ),
    ],
    ['a first item that is gone', responses([{ type: 'response.ping' }])],
    [
      'tokens of replies that are gone',
      codex({
        type: 'token_count',
        info: {
          total_token_usage: { total_tokens: 99_000 },
          last_token_usage: { total_tokens: 2 },
        },
      }),
    ],
    [
      'an ending that asks for a tool',
      streamJson(
        { type: 'system', subtype: 'status', session_id: 'S' },
        { stop_reason: 'tool_use' },
      ),
    ],
    [
      'attempts that are not read',
      {
        environment: 'e',
        trajectory: [],
        history: [
          { role: 'user', content: 'fix', agent: 'main' },
          { role: 'assistant', content: 'x', thought: 'x', action: 'submit', agent: 'main' },
        ],
        info: { model_stats: { api_calls: 1 } },
        attempts: [{ trajectory: [] }, { trajectory: [] }],
      },
    ],
  ])('%s: tool calls are partly known', async (_, recording) => {
    expect((await readOne(recording)).captured.toolCalls).toBe('partial');
  });

  test('a stream with all its blocks is whole', async () => {
    expect((await readOne(anthropicStream(...textBlock(0)))).captured.toolCalls).toBe('full');
  });
});
