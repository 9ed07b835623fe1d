import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('langsmith', [
  {
    when: 'runs of an agent',
    recording: [
      {
        id: '8b1f0000-0000-4000-8000-000000000001',
        trace_id: '8b1f0000-0000-4000-8000-000000000001',
        start_time: '2026-02-02T10:00:00Z',
        end_time: '2026-02-02T10:00:01Z',
        dotted_order: '20260202T100000000001Z8b1f0000-0000-4000-8000-000000000001',
        name: 'agent',
        run_type: 'chain',
        inputs: { input: 'Ripe?' },
        outputs: { output: 'Yes.' },
      },
      {
        id: '8b1f0000-0000-4000-8000-000000000002',
        trace_id: '8b1f0000-0000-4000-8000-000000000001',
        start_time: '2026-02-02T10:00:00Z',
        end_time: '2026-02-02T10:00:01Z',
        dotted_order:
          '20260202T100000000001Z8b1f0000-0000-4000-8000-000000000001.20260202T100002000002Z8b1f0000-0000-4000-8000-000000000002',
        parent_run_id: '8b1f0000-0000-4000-8000-000000000001',
        name: 'ChatOpenAI',
        run_type: 'llm',
        inputs: { messages: [{ role: 'user', content: 'Ripe?' }] },
        outputs: {
          choices: [
            {
              index: 0,
              finish_reason: 'tool_calls',
              message: {
                role: 'assistant',
                content: null,
                tool_calls: [
                  { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } },
                ],
              },
            },
          ],
        },
      },
      {
        id: '8b1f0000-0000-4000-8000-000000000003',
        trace_id: '8b1f0000-0000-4000-8000-000000000001',
        start_time: '2026-02-02T10:00:00Z',
        end_time: '2026-02-02T10:00:01Z',
        dotted_order:
          '20260202T100000000001Z8b1f0000-0000-4000-8000-000000000001.20260202T100003000002Z8b1f0000-0000-4000-8000-000000000003',
        parent_run_id: '8b1f0000-0000-4000-8000-000000000001',
        name: 'look',
        run_type: 'tool',
        inputs: { input: '{}' },
        outputs: { output: 'red' },
      },
      {
        id: '8b1f0000-0000-4000-8000-000000000004',
        trace_id: '8b1f0000-0000-4000-8000-000000000001',
        start_time: '2026-02-02T10:00:00Z',
        end_time: '2026-02-02T10:00:01Z',
        dotted_order:
          '20260202T100000000001Z8b1f0000-0000-4000-8000-000000000001.20260202T100004000002Z8b1f0000-0000-4000-8000-000000000004',
        parent_run_id: '8b1f0000-0000-4000-8000-000000000001',
        name: 'ChatOpenAI',
        run_type: 'llm',
        inputs: {
          messages: [
            { role: 'user', content: 'Ripe?' },
            {
              role: 'assistant',
              content: null,
              tool_calls: [
                { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } },
              ],
            },
            { role: 'tool', tool_call_id: 'c', content: 'red' },
          ],
        },
        outputs: {
          choices: [
            { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Yes.' } },
          ],
        },
      },
    ],
    query: 'Ripe?',
    tools: ['look({}) ok'],
    answer: 'Yes.',
    status: 'ok',
    calls: 'full',
  },
]);
