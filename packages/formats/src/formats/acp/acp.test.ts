import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('acp', [
  {
    when: 'a prompt with one call',
    recording: [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'session/prompt',
        params: { sessionId: 'z', prompt: [{ type: 'text', text: 'Fix it.' }] },
      },
      {
        jsonrpc: '2.0',
        method: 'session/update',
        params: {
          sessionId: 'z',
          update: {
            sessionUpdate: 'tool_call',
            toolCallId: 'c1',
            title: 'Reading notes.md',
            kind: 'read',
            status: 'completed',
            rawInput: { path: 'notes.md' },
          },
        },
      },
      {
        jsonrpc: '2.0',
        method: 'session/update',
        params: {
          sessionId: 'z',
          update: {
            sessionUpdate: 'agent_message_chunk',
            content: { type: 'text', text: 'Done.' },
          },
        },
      },
      { jsonrpc: '2.0', id: 1, result: { stopReason: 'end_turn' } },
    ],
    lines: true,
    query: 'Fix it.',
    tools: ['read({"path":"notes.md"}) ok'],
    answer: 'Done.',
    status: 'ok',
    calls: 'partial',
  },
  {
    when: 'a prompt without its end',
    recording: [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'session/prompt',
        params: { sessionId: 'z', prompt: [{ type: 'text', text: 'Fix it.' }] },
      },
      {
        jsonrpc: '2.0',
        method: 'session/update',
        params: {
          sessionId: 'z',
          update: {
            sessionUpdate: 'tool_call',
            toolCallId: 'c1',
            title: 'Reading notes.md',
            kind: 'read',
            status: 'pending',
          },
        },
      },
    ],
    lines: true,
    query: 'Fix it.',
    tools: ['read() pending'],
    status: 'incomplete',
    calls: 'partial',
  },
]);
