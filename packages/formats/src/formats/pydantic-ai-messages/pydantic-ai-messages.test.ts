import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('pydantic-ai-messages', [
  {
    when: 'a call that had to be retried',
    recording: [
      {
        kind: 'request',
        parts: [
          { part_kind: 'user-prompt', content: 'High tide?', timestamp: '2026-05-01T08:00:00Z' },
        ],
      },
      {
        kind: 'response',
        model_name: 'm',
        parts: [{ part_kind: 'tool-call', tool_name: 'tide', args: '{}', tool_call_id: 'p1' }],
        usage: { input_tokens: 3, output_tokens: 5 },
      },
      {
        kind: 'request',
        parts: [
          {
            part_kind: 'retry-prompt',
            tool_name: 'tide',
            content: 'port is missing',
            tool_call_id: 'p1',
          },
        ],
      },
      {
        kind: 'response',
        model_name: 'm',
        parts: [{ part_kind: 'text', content: 'I do not know.' }],
        usage: { input_tokens: 5, output_tokens: 6 },
      },
    ],
    query: 'High tide?',
    tools: ['tide({}) error'],
    answer: 'I do not know.',
    status: 'ok',
    calls: 'full',
  },
]);
