import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('vercel-ai-sdk', [
  {
    when: 'UI messages with a finished call',
    recording: [
      { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Tide?' }] },
      {
        id: 'm2',
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          {
            type: 'tool-tides',
            toolCallId: 'c',
            state: 'output-available',
            input: { port: 'Skagen' },
            output: '09:00',
          },
          { type: 'step-start' },
          { type: 'text', text: 'At nine.' },
        ],
      },
    ],
    query: 'Tide?',
    tools: ['tides({"port":"Skagen"}) ok'],
    answer: 'At nine.',
    status: 'ok',
    calls: 'full',
  },
  {
    when: 'a call that failed',
    recording: [
      { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Tide?' }] },
      {
        id: 'm2',
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          {
            type: 'tool-tides',
            toolCallId: 'c',
            state: 'output-error',
            input: { port: 'x' },
            errorText: 'no port',
          },
          { type: 'step-start' },
          { type: 'text', text: 'No such port.' },
        ],
      },
    ],
    query: 'Tide?',
    tools: ['tides({"port":"x"}) error'],
    answer: 'No such port.',
    status: 'ok',
    calls: 'full',
  },
]);
