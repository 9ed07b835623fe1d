import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('google-adk-events', [
  {
    when: 'events with a call',
    recording: [
      {
        id: 'e',
        invocationId: 'i',
        author: 'user',
        content: { role: 'user', parts: [{ text: 'A ferry?' }] },
        timestamp: 1777622400,
      },
      {
        id: 'e',
        invocationId: 'i',
        author: 'desk',
        content: {
          role: 'model',
          parts: [{ functionCall: { id: 'a1', name: 'timetable', args: { to: 'Borkum' } } }],
        },
        timestamp: 1777622400,
      },
      {
        id: 'e',
        invocationId: 'i',
        author: 'desk',
        content: {
          role: 'model',
          parts: [{ functionResponse: { id: 'a1', name: 'timetable', response: { at: '9:00' } } }],
        },
        timestamp: 1777622400,
      },
      {
        id: 'e',
        invocationId: 'i',
        author: 'desk',
        content: { role: 'model', parts: [{ text: 'At nine.' }] },
        timestamp: 1777622400,
      },
    ],
    query: 'A ferry?',
    tools: ['timetable({"to":"Borkum"}) unknown'],
    answer: 'At nine.',
    status: 'ok',
    calls: 'full',
  },
]);
