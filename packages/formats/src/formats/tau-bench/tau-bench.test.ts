import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('tau-bench', [
  {
    when: 'a trial with its reward',
    recording: [
      {
        task_id: 3,
        trial: 0,
        reward: 1,
        info: { task: { actions: [], instruction: 'x' } },
        traj: [
          { role: 'user', content: 'Refund W1.' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: 'x',
                type: 'function',
                function: { name: 'refund', arguments: '{"order":"W1"}' },
              },
            ],
          },
          { role: 'tool', tool_call_id: 'x', name: 'refund', content: 'ok' },
          { role: 'assistant', content: 'Refunded.' },
        ],
      },
    ],
    query: 'Refund W1.',
    tools: ['refund({"order":"W1"}) unknown'],
    answer: 'Refunded.',
    status: 'ok',
    calls: 'full',
  },
  {
    when: 'a trial of the strategies that write their calls',
    recording: [
      {
        task_id: 4,
        trial: 1,
        reward: 1,
        info: { task: { actions: [], instruction: 'x' } },
        traj: [
          { role: 'system', content: 'Write Action: and JSON.' },
          { role: 'user', content: 'Refund W1.' },
          {
            role: 'assistant',
            content:
              'Thought:\nIt is theirs.\nAction:\n{"name": "refund", "arguments": {"order": "W1"}}',
          },
          { role: 'user', content: 'API output: ok' },
          {
            role: 'assistant',
            content: 'Action:\n{"name": "respond", "arguments": {"content": "Refunded."}}',
          },
        ],
      },
    ],
    query: 'Refund W1.',
    tools: ['refund({"order":"W1"}) unknown'],
    answer: 'Refunded.',
    status: 'ok',
    calls: 'full',
  },
]);
