import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('openai-chat-completions', [
  {
    when: 'messages with a call and its result',
    recording: {
      messages: [
        { role: 'user', content: 'Where?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c', type: 'function', function: { name: 'find', arguments: '{"id":1}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: 'here' },
        { role: 'assistant', content: 'Here.' },
      ],
    },
    query: 'Where?',
    tools: ['find({"id":1}) unknown'],
    answer: 'Here.',
    status: 'ok',
    calls: 'full',
  },
  {
    when: 'a reply that asks for a call',
    recording: {
      id: 'r',
      object: 'chat.completion',
      created: 1767603600,
      model: 'm',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'c', type: 'function', function: { name: 'find', arguments: '{}' } },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    },
    tools: ['find({}) unknown'],
    status: 'unknown',
    calls: 'full',
  },
  {
    when: 'chunks that stop before their end',
    recording: [
      {
        id: 'r',
        object: 'chat.completion.chunk',
        created: 1767603600,
        model: 'm',
        choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' } }],
      },
      {
        id: 'r',
        object: 'chat.completion.chunk',
        created: 1767603600,
        model: 'm',
        choices: [{ index: 0, delta: { content: 'lo' } }],
      },
    ],
    lines: true,
    answer: 'Hello',
    status: 'incomplete',
    calls: 'partial',
  },
]);
