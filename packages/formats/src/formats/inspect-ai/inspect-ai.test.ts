import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('inspect-ai', [
  {
    when: 'a log with one sample',
    recording: {
      version: 2,
      status: 'success',
      eval: { run_id: 'r', task: 'maze', model: 'mock/one' },
      plan: { steps: [] },
      samples: [
        {
          id: 'm1',
          epoch: 1,
          input: 'Exit?',
          target: 'north',
          messages: [
            { role: 'user', content: 'Exit?' },
            {
              role: 'assistant',
              content: '',
              tool_calls: [
                { id: 'c', function: 'look', arguments: { at: 'north' }, type: 'function' },
              ],
            },
            { role: 'tool', content: 'a door', tool_call_id: 'c', function: 'look' },
            { role: 'assistant', content: 'north' },
          ],
          output: {
            model: 'one',
            choices: [{ message: { role: 'assistant', content: 'north' }, stop_reason: 'stop' }],
          },
          scores: { match: { value: 'C' } },
        },
      ],
    },
    query: 'Exit?',
    tools: ['look({"at":"north"}) ok'],
    answer: 'north',
    status: 'ok',
    calls: 'full',
  },
]);
