import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('claude-code-stream-json', [
  {
    when: 'a session with a call and its result',
    recording: [
      { type: 'system', subtype: 'init', session_id: 's', model: 'claude', tools: ['Bash'] },
      {
        type: 'assistant',
        message: {
          id: 'm1',
          type: 'message',
          model: 'claude',
          role: 'assistant',
          content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }],
          usage: { input_tokens: 3, output_tokens: 2 },
        },
        parent_tool_use_id: null,
        session_id: 's',
      },
      {
        type: 'user',
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 't1', content: 'a.md' }],
        },
        parent_tool_use_id: null,
        session_id: 's',
      },
      {
        type: 'assistant',
        message: {
          id: 'm2',
          type: 'message',
          model: 'claude',
          role: 'assistant',
          content: [{ type: 'text', text: 'One file.' }],
          usage: { input_tokens: 3, output_tokens: 2 },
        },
        parent_tool_use_id: null,
        session_id: 's',
      },
      {
        type: 'result',
        subtype: 'success',
        is_error: false,
        result: 'One file.',
        session_id: 's',
        num_turns: 2,
        duration_ms: 900,
        total_cost_usd: 0.01,
      },
    ],
    lines: true,
    tools: ['Bash({"command":"ls"}) ok'],
    answer: 'One file.',
    status: 'ok',
    calls: 'full',
  },
  {
    when: 'a session without its result',
    recording: [
      { type: 'system', subtype: 'init', session_id: 's', model: 'claude', tools: ['Bash'] },
      {
        type: 'assistant',
        message: {
          id: 'm1',
          type: 'message',
          model: 'claude',
          role: 'assistant',
          content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }],
          usage: { input_tokens: 3, output_tokens: 2 },
        },
        parent_tool_use_id: null,
        session_id: 's',
      },
    ],
    lines: true,
    tools: ['Bash({"command":"ls"}) unknown'],
    status: 'incomplete',
    calls: 'partial',
  },
]);
