import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('atif', [
  {
    when: 'steps with calls and results',
    recording: {
      schema_version: 'ATIF-v1.6',
      session_id: 's',
      agent: { name: 'miller', version: '1', model_name: 'm' },
      steps: [
        { step_id: 1, source: 'user', message: 'Grind.' },
        {
          step_id: 2,
          source: 'agent',
          message: '',
          tool_calls: [{ tool_call_id: 'w', function_name: 'grind', arguments: { kg: 5 } }],
          observation: { results: [{ source_call_id: 'w', content: 'flour' }] },
        },
        { step_id: 3, source: 'agent', message: 'Flour.' },
      ],
    },
    query: 'Grind.',
    tools: ['grind({"kg":5}) unknown'],
    answer: 'Flour.',
    status: 'ok',
    calls: 'full',
  },
]);
