import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('codex-cli', [
  {
    when: 'items of a session',
    recording: {
      items: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'List.' }] },
        {
          type: 'function_call',
          id: 'f',
          name: 'exec_command',
          arguments: '{"cmd":"ls"}',
          call_id: 'c',
        },
        { type: 'function_call_output', call_id: 'c', output: 'north' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'North.' }] },
      ],
    },
    query: 'List.',
    tools: ['exec_command({"cmd":"ls"}) unknown'],
    answer: 'North.',
    status: 'ok',
    calls: 'full',
  },
  {
    when: 'two events of one item disagree on its kind',
    recording: [
      { type: 'thread.started', thread_id: 't' },
      { type: 'turn.started' },
      {
        type: 'item.started',
        item: { id: 'i0', type: 'constructor', command: 'ls', status: 'in_progress' },
      },
      {
        type: 'item.completed',
        item: {
          id: 'i0',
          type: 'command_execution',
          command: 'ls',
          exit_code: 0,
          status: 'completed',
        },
      },
      { type: 'item.completed', item: { id: 'i1', type: 'agent_message', text: 'North.' } },
      { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
    ],
    tools: ['command_execution({"command":"ls"}) ok'],
    answer: 'North.',
    status: 'ok',
    calls: 'full',
  },
  {
    when: 'an item of an unknown kind has the state of something that ran',
    recording: [
      { type: 'thread.started', thread_id: 't' },
      { type: 'turn.started' },
      { type: 'item.completed', item: { id: 'i0', type: 'patch_apply', status: 'completed' } },
      { type: 'item.completed', item: { id: 'i1', type: 'agent_message', text: 'North.' } },
      { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
    ],
    tools: ['patch_apply() ok'],
    answer: 'North.',
    status: 'ok',
    calls: 'full',
  },
  {
    when: 'events of codex exec',
    recording: [
      { type: 'thread.started', thread_id: 't' },
      { type: 'turn.started' },
      {
        type: 'item.completed',
        item: {
          id: 'i0',
          type: 'command_execution',
          command: 'ls',
          aggregated_output: 'a',
          exit_code: 1,
          status: 'failed',
        },
      },
      { type: 'item.completed', item: { id: 'i1', type: 'agent_message', text: 'It failed.' } },
      {
        type: 'turn.completed',
        usage: { input_tokens: 5, cached_input_tokens: 0, output_tokens: 2 },
      },
    ],
    lines: true,
    tools: ['command_execution({"command":"ls"}) error'],
    answer: 'It failed.',
    status: 'ok',
    calls: 'full',
  },
]);
