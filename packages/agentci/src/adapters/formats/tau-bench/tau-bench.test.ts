import { describeFormat } from '../../../../test/support/format-cases.ts';

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
            tool_calls: [{ id: 'x', type: 'function', function: { name: 'refund', arguments: '{"order":"W1"}' } }],
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
]);
