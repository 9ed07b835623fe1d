import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('anthropic-messages', [
  {
    when: 'a conversation with a failed call',
    recording: [
      { role: 'user', content: 'Refund it.' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c1', name: 'refund', input: { sum: 42 } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'limit is 40', is_error: true },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'A colleague writes.' }] },
    ],
    query: 'Refund it.',
    tools: ['refund({"sum":42}) error'],
    answer: 'A colleague writes.',
    status: 'ok',
    calls: 'full',
  },
  {
    when: 'a stream that stops before its end',
    recording: [
      {
        type: 'message_start',
        message: {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'claude',
          content: [],
          usage: { input_tokens: 3, output_tokens: 1 },
        },
      },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'c1', name: 'refund', input: {} },
      },
    ],
    lines: true,
    tools: ['refund({}) unknown'],
    status: 'incomplete',
    calls: 'partial',
  },
  {
    when: 'a request with its reply',
    recording: {
      uri: 'https://api.anthropic.com/v1/messages',
      request: { model: 'claude', messages: [{ role: 'user', content: 'Hi' }] },
      response: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [{ type: 'text', text: 'Hello.' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 3, output_tokens: 2 },
      },
    },
    query: 'Hi',
    answer: 'Hello.',
    status: 'ok',
    calls: 'full',
  },
]);
