import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('langfuse-otel', [
  {
    when: 'spans of its SDK',
    recording: [
      {
        name: 'find',
        startTimeUnixNano: 1790000000020000000,
        endTimeUnixNano: 1790000000030000000,
        attributes: {
          'langfuse.observation.type': 'tool',
          'langfuse.observation.input': '{"id":1}',
          'langfuse.observation.output': '"here"',
        },
      },
      {
        name: 'chat',
        startTimeUnixNano: 1790000000040000000,
        endTimeUnixNano: 1790000000050000000,
        attributes: {
          'langfuse.observation.type': 'generation',
          'langfuse.observation.model.name': 'm',
          'langfuse.observation.input': '[{"role":"user","content":"Where?"}]',
          'langfuse.observation.output': '{"role":"assistant","content":"Here."}',
        },
      },
    ],
    query: 'Where?',
    tools: ['find({"id":1}) unknown'],
    answer: 'Here.',
    status: 'ok',
    calls: 'full',
  },
]);
