// An agent with its own spans: traced.ts EXPORTER. It does not configure their target.

import { INSTRUCTIONS, MODEL, QUESTION, TOOLS, tryTool } from '@agentci/recorder';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as HttpExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtoExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import OpenAI from 'openai';

const [kind = 'http', ...how] = process.argv.slice(2);
const exporters = { http: HttpExporter, proto: ProtoExporter, grpc: GrpcExporter };
const exporter = new exporters[kind as keyof typeof exporters]();
const loses = how.some((word) => word.startsWith('lose'));
// Spans that must be lost must not be sent by the timer on a slow machine.
const batches = new BatchSpanProcessor(exporter, loses ? { scheduledDelayMillis: 3_600_000 } : {});
const provider = new NodeTracerProvider({ spanProcessors: [batches] });
provider.register();

let ended = 0;
let sent = 0;
const send = exporter.export.bind(exporter);
exporter.export = (spans, done) =>
  send(spans, (result) => {
    sent += spans.length;
    done(result);
  });
const tracer = trace.getTracer('support');

const within = <T>(
  name: string,
  attributes: Record<string, string | number>,
  work: () => Promise<T>,
): Promise<T> => {
  const span = tracer.startSpan(name, { attributes });
  return context.with(trace.setSpan(context.active(), span), async () => {
    try {
      return await work();
    } finally {
      span.end();
      ended++;
    }
  });
};

const client = new OpenAI();
const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
  { role: 'system', content: INSTRUCTIONS },
  { role: 'user', content: QUESTION },
];
const tools = TOOLS.map((tool) => ({ type: 'function' as const, function: { ...tool } }));

async function ask(): Promise<OpenAI.Chat.ChatCompletionMessage> {
  return within(
    `chat ${MODEL}`,
    { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': MODEL },
    async () => {
      const completion = await client.chat.completions.create({ model: MODEL, messages, tools });
      const span = trace.getActiveSpan()!;
      if (!how.includes('no-ids')) span.setAttribute('gen_ai.response.id', completion.id);
      span.setAttribute('gen_ai.usage.input_tokens', completion.usage?.prompt_tokens ?? 0);
      span.setAttribute('gen_ai.usage.output_tokens', completion.usage?.completion_tokens ?? 0);
      return completion.choices[0]!.message;
    },
  );
}

async function run(): Promise<void> {
  // A tool called by the program itself. No message mentions it.
  const audit = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'audit' };
  await within('execute_tool audit', audit, async () => {});
  for (;;) {
    const message = await ask();
    if (how.includes('lose-last') && messages.length === 2) await provider.forceFlush();
    messages.push(message);
    if (!message.tool_calls?.length) {
      process.stdout.write(message.content ?? '');
      return;
    }
    for (const call of message.tool_calls) {
      if (call.type !== 'function') continue;
      const { name, arguments: args } = call.function;
      const attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.call.id': call.id,
        'gen_ai.tool.call.arguments': args,
      };
      const { text } = await within(`execute_tool ${name}`, attributes, async () => {
        const result = tryTool(name, JSON.parse(args));
        const span = trace.getActiveSpan()!;
        span.setAttribute('gen_ai.tool.call.result', result.text);
        if (result.isError) span.setStatus({ code: SpanStatusCode.ERROR, message: result.text });
        return result;
      });
      messages.push({ role: 'tool', tool_call_id: call.id, content: text });
    }
  }
}

// Work around the agent, unrelated to it.
await within('POST /chat', { 'http.request.method': 'POST' }, () =>
  within(
    'invoke_agent support',
    { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'support' },
    run,
  ),
);
// A program that just ends. Its last spans are sent because the exporter's timer is short.
if (how.includes('no-shutdown'))
  while (sent < ended) await new Promise((resolve) => setTimeout(resolve, 10));
else if (!loses) await provider.shutdown();
process.exit(0);
