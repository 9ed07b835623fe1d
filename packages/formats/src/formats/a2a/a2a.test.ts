import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('a2a', [
  {
    when: 'a message and the task that answers it',
    recording: [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: {
          message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Where is parcel 7?' }] },
        },
      },
      {
        jsonrpc: '2.0',
        id: 1,
        result: {
          task: {
            id: 'k1',
            contextId: 'x',
            status: { state: 'TASK_STATE_COMPLETED' },
            artifacts: [{ artifactId: 'a', parts: [{ text: 'In Leer.' }] }],
          },
        },
      },
    ],
    lines: true,
    query: 'Where is parcel 7?',
    answer: 'In Leer.',
    status: 'ok',
    calls: 'none',
  },
  {
    when: 'a task that failed',
    recording: [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Where?' }] } },
      },
      {
        jsonrpc: '2.0',
        id: 1,
        result: {
          task: {
            id: 'k1',
            contextId: 'x',
            status: {
              state: 'TASK_STATE_FAILED',
              message: { messageId: 'm2', role: 'ROLE_AGENT', parts: [{ text: 'no idea' }] },
            },
          },
        },
      },
    ],
    lines: true,
    query: 'Where?',
    answer: 'no idea',
    status: 'error',
    calls: 'none',
  },
]);
