import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('otel-openinference', [
  {
    when: 'an agent with a call',
    recording: [
      {
        trace_id: '5f0c0000000000000000000000000017',
        span_id: '0000000000000001',
        name: 'desk',
        start_time: 1790000000010000000,
        end_time: 1790000000014999800,
        attributes: {
          'openinference.span.kind': 'AGENT',
          'input.value': 'Where?',
          'output.value': 'Here.',
        },
        status: { code: 'UNSET' },
        scope: { name: 'openinference.instrumentation.openai', version: '1.0.0' },
      },
      {
        trace_id: '5f0c0000000000000000000000000017',
        span_id: '0000000000000002',
        parent_span_id: '0000000000000001',
        name: 'find',
        start_time: 1790000000020000000,
        end_time: 1790000000025000000,
        attributes: {
          'openinference.span.kind': 'TOOL',
          'tool.name': 'find',
          'input.value': '{"id":1}',
          'output.value': 'here',
        },
        status: { code: 'UNSET' },
        scope: { name: 'openinference.instrumentation.openai', version: '1.0.0' },
      },
    ],
    query: 'Where?',
    tools: ['find({"id":1}) ok'],
    answer: 'Here.',
    status: 'ok',
    calls: 'full',
  },
]);
