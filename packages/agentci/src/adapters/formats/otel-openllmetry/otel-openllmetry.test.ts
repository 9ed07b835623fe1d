import { describeFormat } from '../../../../test/support/format-cases.ts';

describeFormat('otel-openllmetry', [
  {
    when: 'a model call and its tool',
    recording: [
      {
        trace_id: '5f0c0000000000000000000000000017',
        span_id: '0000000000000001',
        name: 'desk.workflow',
        start_time: 1790000000010000000,
        end_time: 1790000000014999800,
        attributes: {
          'traceloop.span.kind': 'workflow',
          'traceloop.entity.name': 'desk',
        },
        status: {
          code: 'UNSET',
        },
        scope: {
          name: 'opentelemetry.instrumentation.openai.v1',
          version: '1.0.0',
        },
      },
      {
        trace_id: '5f0c0000000000000000000000000017',
        span_id: '0000000000000002',
        parent_span_id: '0000000000000001',
        name: 'find.tool',
        start_time: 1790000000020000000,
        end_time: 1790000000025000000,
        attributes: {
          'traceloop.span.kind': 'tool',
          'traceloop.entity.name': 'find',
          'traceloop.entity.input': '{"id":1}',
          'traceloop.entity.output': '"here"',
        },
        status: {
          code: 'UNSET',
        },
        scope: {
          name: 'x',
          version: '1.0.0',
        },
      },
      {
        trace_id: '5f0c0000000000000000000000000017',
        span_id: '0000000000000003',
        parent_span_id: '0000000000000001',
        name: 'openai.chat',
        start_time: 1790000000030000000,
        end_time: 1790000000035000000,
        attributes: {
          'llm.request.type': 'chat',
          'gen_ai.system': 'OpenAI',
          'gen_ai.request.model': 'm',
          'gen_ai.prompt.0.role': 'user',
          'gen_ai.prompt.0.content': 'Where?',
          'gen_ai.completion.0.role': 'assistant',
          'gen_ai.completion.0.finish_reason': 'stop',
          'gen_ai.completion.0.content': 'Here.',
        },
        status: {
          code: 'UNSET',
        },
        scope: {
          name: 'opentelemetry.instrumentation.openai.v1',
          version: '1.0.0',
        },
      },
    ],
    query: 'Where?',
    tools: ['find({"id":1}) ok'],
    answer: 'Here.',
    status: 'ok',
    calls: 'full',
  },
]);
