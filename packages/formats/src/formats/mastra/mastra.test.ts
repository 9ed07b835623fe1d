import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('mastra', [
  {
    when: 'spans of a run',
    recording: [
      {
        id: 'a',
        traceId: 't',
        name: "agent run: 'keeper'",
        type: 'agent_run',
        startTime: '2026-05-01T10:00:00Z',
        endTime: '2026-05-01T10:00:09Z',
        input: [{ role: 'user', content: 'Weigh.' }],
        output: { text: '510 g.' },
        attributes: {},
        entityName: 'keeper',
      },
      {
        id: 'b',
        parentSpanId: 'a',
        traceId: 't',
        name: "tool: 'scale'",
        type: 'tool_call',
        startTime: '2026-05-01T10:00:02Z',
        endTime: '2026-05-01T10:00:03Z',
        input: { jar: 1 },
        output: 510,
        attributes: { success: true },
        entityName: 'scale',
      },
    ],
    query: 'Weigh.',
    tools: ['scale({"jar":1}) ok'],
    answer: '510 g.',
    status: 'ok',
    calls: 'full',
  },
]);
