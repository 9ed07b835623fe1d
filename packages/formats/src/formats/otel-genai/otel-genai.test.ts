import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('otel-genai', [
  {
    when: 'an agent with a call',
    recording: [
      {
        trace_id: '5f0c0000000000000000000000000017',
        span_id: '0000000000000001',
        name: 'invoke_agent desk',
        start_time: 1790000000010000000,
        end_time: 1790000000014999800,
        attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'desk' },
        status: { code: 'UNSET' },
        scope: { name: 'x', version: '1.0.0' },
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
          'gen_ai.tool.call.arguments': '{"id":1}',
          'gen_ai.tool.call.result': '"here"',
        },
        status: { code: 'UNSET' },
        scope: { name: 'x', version: '1.0.0' },
      },
      {
        trace_id: '5f0c0000000000000000000000000017',
        span_id: '0000000000000003',
        parent_span_id: '0000000000000001',
        name: 'chat m',
        start_time: 1790000000030000000,
        end_time: 1790000000035000000,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.request.model': 'm',
          'gen_ai.usage.input_tokens': 5,
          'gen_ai.usage.output_tokens': 2,
          'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Where?"}]}]',
          'gen_ai.output.messages':
            '[{"role":"assistant","parts":[{"type":"text","content":"Here."}],"finish_reason":"stop"}]',
        },
        status: { code: 'UNSET' },
        scope: { name: 'x', version: '1.0.0' },
      },
    ],
    query: 'Where?',
    tools: ['find({"id":1}) ok'],
    answer: 'Here.',
    status: 'ok',
    calls: 'full',
  },
  {
    when: 'an agent span alone proves nothing',
    recording: [
      {
        trace_id: '5f0c0000000000000000000000000017',
        span_id: '0000000000000001',
        name: 'invoke_agent desk',
        start_time: 1790000000010000000,
        end_time: 1790000000014999800,
        attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'desk' },
        status: { code: 'UNSET' },
        scope: { name: 'x', version: '1.0.0' },
      },
    ],
    status: 'unknown',
    calls: 'none',
  },
]);
