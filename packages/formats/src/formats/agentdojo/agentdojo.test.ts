import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('agentdojo', [
  {
    when: 'a task with a failed call',
    recording: {
      suite_name: 'banking',
      pipeline_name: 'p',
      user_task_id: 'user_task_1',
      injection_task_id: null,
      attack_type: null,
      utility: false,
      security: true,
      error: null,
      messages: [
        { role: 'user', content: 'Pay the rent.' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ function: 'pay', args: { sum: 'x' }, id: '' }],
        },
        {
          role: 'tool',
          content: '',
          tool_call_id: null,
          tool_call: { function: 'pay', args: { sum: 'x' } },
          error: 'ValueError',
        },
        { role: 'assistant', content: 'I could not pay.' },
      ],
    },
    query: 'Pay the rent.',
    tools: ['pay({"sum":"x"}) error'],
    answer: 'I could not pay.',
    status: 'ok',
    calls: 'full',
  },
]);
