import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('langfuse-export', [
  {
    when: 'a trace and its observations',
    recording: {
      trace: { id: 't', name: 'desk', input: '"Where?"', output: '"Here."' },
      observations: [
        {
          id: 'o1',
          type: 'GENERATION',
          name: 'chat',
          startTime: '2026-09-21T14:13:20.050Z',
          endTime: '2026-09-21T14:13:20.060Z',
          level: 'DEFAULT',
          model: 'm',
          input: '[{"role":"user","content":"Where?"}]',
          output: '{"role":"assistant","content":"Here."}',
        },
        {
          id: 'o2',
          type: 'TOOL',
          name: 'find',
          startTime: '2026-09-21T14:13:20.020Z',
          endTime: '2026-09-21T14:13:20.030Z',
          level: 'ERROR',
          statusMessage: 'gone',
          input: '{"id":1}',
        },
      ],
    },
    query: 'Where?',
    tools: ['find({"id":1}) error'],
    answer: 'Here.',
    status: 'ok',
    calls: 'full',
  },
]);
