import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('autogen', [
  {
    when: 'a team that hands over',
    recording: {
      messages: [
        { type: 'TextMessage', source: 'user', content: 'Two loaves.' },
        {
          type: 'ToolCallRequestEvent',
          source: 'counter',
          content: [{ id: 'b', name: 'stock', arguments: '{}' }],
        },
        {
          type: 'ToolCallExecutionEvent',
          source: 'counter',
          content: [{ call_id: 'b', name: 'stock', content: 'none', is_error: false }],
        },
        { type: 'HandoffMessage', source: 'counter', target: 'baker', content: 'Bake.' },
        { type: 'TextMessage', source: 'baker', content: 'Ready.' },
      ],
      stop_reason: 'done',
    },
    query: 'Two loaves.',
    tools: ['stock({}) ok'],
    handoffs: ['counter > baker'],
    answer: 'Ready.',
    status: 'ok',
    calls: 'full',
  },
]);
