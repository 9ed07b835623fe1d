import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('ag-ui', [
  {
    when: 'a run with one call',
    recording: [
      {
        type: 'RUN_STARTED',
        threadId: 't',
        runId: 'r',
        input: { messages: [{ id: 'q', role: 'user', content: 'New?' }] },
      },
      { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'exhibits' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{"new":true}' },
      { type: 'TOOL_CALL_END', toolCallId: 'c1' },
      { type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c1', content: 'amber' },
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'a', role: 'assistant', delta: 'Amber.' },
      { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
    ],
    lines: true,
    query: 'New?',
    tools: ['exhibits({"new":true}) unknown'],
    answer: 'Amber.',
    status: 'ok',
    calls: 'full',
  },
  {
    when: 'a run that ended in an error',
    recording: [
      { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
      { type: 'RUN_ERROR', message: 'quota' },
    ],
    lines: true,
    status: 'error',
    calls: 'none',
  },
]);
