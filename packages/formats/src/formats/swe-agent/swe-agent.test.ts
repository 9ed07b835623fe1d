import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('swe-agent', [
  {
    when: 'a trajectory with a call',
    recording: {
      environment: 'repo',
      trajectory: [],
      history: [
        { role: 'system', content: 'You fix code.', agent: 'main', message_type: 'system_prompt' },
        { role: 'user', content: 'Fix it.', agent: 'main', message_type: 'observation' },
        {
          role: 'assistant',
          content: 'I open it.',
          agent: 'main',
          message_type: 'action',
          action: 'open a.py',
          tool_calls: [
            { id: 'o', type: 'function', function: { name: 'open', arguments: '{"path":"a.py"}' } },
          ],
        },
        {
          role: 'tool',
          content: 'def f()',
          agent: 'main',
          message_type: 'observation',
          tool_call_ids: ['o'],
        },
      ],
      info: { exit_status: 'submitted', submission: '+x' },
    },
    query: 'Fix it.',
    tools: ['open({"path":"a.py"}) unknown'],
    answer: '+x',
    status: 'ok',
    calls: 'full',
  },
]);
