import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('tau2-bench', [
  {
    when: 'a simulation with a failed call',
    recording: {
      info: { agent_info: { llm: 'm' } },
      tasks: [{ id: 'p1' }],
      simulations: [
        {
          id: 's',
          task_id: 'p1',
          trial: 0,
          termination_reason: 'user_stop',
          reward_info: { reward: 0 },
          messages: [
            { role: 'user', content: 'Dead.' },
            {
              role: 'assistant',
              content: null,
              tool_calls: [
                { id: 'a', name: 'reset_line', arguments: { line: 7 }, requestor: 'assistant' },
              ],
            },
            { role: 'tool', id: 'a', content: 'busy', requestor: 'assistant', error: true },
            { role: 'assistant', content: 'Try later.' },
          ],
        },
      ],
    },
    query: 'Dead.',
    tools: ['reset_line({"line":7}) error'],
    answer: 'Try later.',
    status: 'ok',
    calls: 'full',
  },
]);
