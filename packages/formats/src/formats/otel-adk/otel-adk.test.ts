import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('otel-adk', [
  {
    when: 'spans of an agent',
    recording: [
      {
        trace_id: '5f0c0000000000000000000000000017',
        span_id: '0000000000000001',
        name: 'invoke_agent desk',
        start_time: 1790000000010000000,
        end_time: 1790000000014999800,
        attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'desk' },
        status: { code: 'UNSET' },
        scope: { name: 'gcp.vertex.agent', version: '1.0.0' },
      },
      {
        trace_id: '5f0c0000000000000000000000000017',
        span_id: '0000000000000002',
        parent_span_id: '0000000000000001',
        name: 'execute_tool find',
        start_time: 1790000000020000000,
        end_time: 1790000000025000000,
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'find',
          'gen_ai.tool.call.id': 'c',
          'gcp.vertex.agent.llm_request': '{}',
          'gcp.vertex.agent.tool_call_args': '{"id": 1}',
          'gcp.vertex.agent.tool_response': '{"at": "here"}',
        },
        status: { code: 'UNSET' },
        scope: { name: 'gcp.vertex.agent', version: '1.0.0' },
      },
    ],
    tools: ['find({"id":1}) ok'],
    status: 'unknown',
    calls: 'full',
  },
]);
