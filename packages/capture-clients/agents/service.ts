// An agent behind HTTP with its own spans: service.ts EXPORTER. It continues the trace of a request
// like instrumentations do.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { context, propagation, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as HttpExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtoExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

const [kind = 'proto'] = process.argv.slice(2);
const exporters = { http: HttpExporter, proto: ProtoExporter, grpc: GrpcExporter };
const exporter = new exporters[kind as keyof typeof exporters]();
new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }).register();
const tracer = trace.getTracer('shop');

const within = <T>(
  name: string,
  attributes: Record<string, string | number>,
  work: () => Promise<T>,
): Promise<T> =>
  tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work();
    } finally {
      span.end();
    }
  });

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Calls the tools named in the query, with a model call before each: `look, sell`. */
async function answer(query: string): Promise<string> {
  const tools = query.split(/,\s*/);
  for (const name of tools) {
    const usage = { 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 2 };
    const model = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-4o-mini',
      ...usage,
    };
    await within('chat gpt-4o-mini', model, () => pause(5 + 20 * Math.random()));
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name };
    await within(`execute_tool ${name}`, tool, () => pause(20 * Math.random()));
  }
  return `done: ${query}`;
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const outer = propagation.extract(ROOT_CONTEXT, request.headers);
  const span = tracer.startSpan(
    'POST /',
    { kind: SpanKind.SERVER, attributes: { 'http.request.method': 'POST' } },
    outer,
  );
  const agent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'shop' };
  const text = await context.with(trace.setSpan(outer, span), () =>
    within('invoke_agent shop', agent, () => answer(JSON.parse(body).query)),
  );
  response.end(JSON.stringify({ answer: text }), () => span.end());
});
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`),
);
