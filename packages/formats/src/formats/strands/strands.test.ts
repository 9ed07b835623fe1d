import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('strands', [
  {
    when: 'messages with a failed call',
    recording: {
      messages: [
        { role: 'user', content: [{ text: 'How hot?' }] },
        {
          role: 'assistant',
          content: [{ toolUse: { toolUseId: 'k', name: 'probe', input: { kiln: 1 } } }],
        },
        {
          role: 'user',
          content: [
            { toolResult: { toolUseId: 'k', status: 'error', content: [{ text: 'no probe' }] } },
          ],
        },
        { role: 'assistant', content: [{ text: 'Unknown.' }] },
      ],
    },
    query: 'How hot?',
    tools: ['probe({"kiln":1}) error'],
    answer: 'Unknown.',
    status: 'ok',
    calls: 'full',
  },
]);
