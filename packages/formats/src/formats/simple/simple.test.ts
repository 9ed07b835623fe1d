import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('simple', [
  {
    when: 'an answer with calls',
    recording: [
      {
        query: 'Where?',
        answer: 'Here.',
        tool_calls: [{ name: 'find', args: { id: 1 }, result: 'here' }],
      },
    ],
    lines: true,
    query: 'Where?',
    tools: ['find({"id":1}) ok'],
    answer: 'Here.',
    status: 'ok',
    calls: 'full',
  },
  {
    when: 'an answer alone',
    recording: ['A bare answer.'],
    lines: true,
    answer: 'A bare answer.',
    status: 'ok',
    calls: 'none',
  },
  {
    when: 'calls written as Chat Completions writes them',
    recording: [
      {
        answer: 'Here.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"id":1}' } },
        ],
      },
    ],
    lines: true,
    answer: 'Here.',
    tools: ['find({"id":1}) unknown'],
    status: 'ok',
    calls: 'full',
  },
  {
    when: 'a call list that is empty says that no tool was called',
    recording: [{ answer: 'Hi.', tool_calls: [] }],
    lines: true,
    answer: 'Hi.',
    status: 'ok',
    calls: 'full',
  },
]);
