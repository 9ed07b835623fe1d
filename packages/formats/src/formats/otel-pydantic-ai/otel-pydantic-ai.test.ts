import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('otel-pydantic-ai', [
  {
    when: 'an agent run',
    recording: [
      {
        trace_id: '5f0c0000000000000000000000000017',
        span_id: '0000000000000001',
        name: 'agent run',
        start_time: 1790000000010000000,
        end_time: 1790000000014999800,
        attributes: {
          agent_name: 'desk',
          model_name: 'm',
          final_result: 'Here.',
          all_messages_events: '[]',
        },
        status: { code: 'UNSET' },
        scope: { name: 'pydantic-ai', version: '1.0.0' },
      },
      {
        trace_id: '5f0c0000000000000000000000000017',
        span_id: '0000000000000002',
        parent_span_id: '0000000000000001',
        name: 'running tool',
        start_time: 1790000000020000000,
        end_time: 1790000000025000000,
        attributes: {
          'gen_ai.tool.name': 'find',
          'gen_ai.tool.call.id': 'c',
          tool_arguments: '{"id":1}',
          tool_response: 'here',
        },
        status: { code: 'UNSET' },
        scope: { name: 'pydantic-ai', version: '1.0.0' },
      },
    ],
    tools: ['find({"id":1}) ok'],
    answer: 'Here.',
    status: 'ok',
    calls: 'full',
  },
]);
