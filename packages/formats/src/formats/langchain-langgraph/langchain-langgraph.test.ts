import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('langchain-langgraph', [
  {
    when: 'stored messages',
    recording: [
      { type: 'human', data: { content: 'Refund it.' } },
      {
        type: 'ai',
        data: {
          content: '',
          tool_calls: [{ name: 'refund', args: { sum: 4 }, type: 'tool_call', id: 'c' }],
        },
      },
      {
        type: 'tool',
        data: { content: 'ok', tool_call_id: 'c', name: 'refund', status: 'success' },
      },
      { type: 'ai', data: { content: 'Refunded.', tool_calls: [] } },
    ],
    query: 'Refund it.',
    tools: ['refund({"sum":4}) ok'],
    answer: 'Refunded.',
    status: 'ok',
    calls: 'full',
  },
]);
