import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('agentci', [
  {
    when: 'a native trace',
    recording: [
      {
        schema: 'agentci.trace/1',
        id: 't',
        source: { format: 'simple' },
        status: 'ok',
        agents: [],
        steps: [
          {
            id: 's1',
            seq: 1,
            kind: 'tool',
            name: 'find',
            status: 'ok',
            by: 'client',
            evidence: ['message'],
            args: {},
          },
        ],
        meta: {},
        captured: {
          toolCalls: 'full',
          toolArgs: 'full',
          toolResults: 'none',
          toolErrors: 'none',
          llmCalls: 'none',
          prompts: 'none',
          usage: 'none',
          cost: 'none',
          timing: 'none',
          agents: 'none',
          handoffs: 'none',
          messages: 'none',
          retrieval: 'none',
          final: 'full',
        },
        warnings: [],
        final: { text: 'Here.' },
      },
    ],
    lines: true,
    tools: ['find({}) ok'],
    answer: 'Here.',
    status: 'ok',
    calls: 'full',
    from: 'simple',
  },
]);
