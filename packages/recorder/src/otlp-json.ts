import { context, propagation, trace } from '@opentelemetry/api';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { generateText } from 'ai';
import { RESOURCE, tracing, withReceiver } from './receiver.ts';
import { asJson, asLines, type Recording } from './recording.ts';
import { stableSpans } from './stable-spans.ts';
import { QUESTION, REPLIES } from './story.ts';
import { withModel } from './tee.ts';
import { runInstrumented, Ticks } from './telemetry.ts';
import { inLogs, onSpans } from './telemetry-content.ts';
import { sdkCall } from './vercel-ai-sdk.ts';

const parsed = (bytes: Buffer): unknown => JSON.parse(bytes.toString('utf8'));

/** Spans with their messages, in a single export request. */
async function traces(): Promise<unknown> {
  const [body] = await withReceiver(async (receiver) => {
    const provider = tracing(
      new BatchSpanProcessor(new OTLPTraceExporter({ url: `${receiver}/v1/traces` })),
    );
    await withModel(REPLIES, ({ url }) =>
      runInstrumented({
        url,
        tracer: provider.getTracer('support-agent'),
        ticks: new Ticks(),
        content: onSpans,
      }),
    );
    await provider.shutdown();
  });
  return parsed(body!.bytes);
}

/**
 * Spans without content, and log records with it: two requests, as a collector writes them to a
 * file.
 */
async function tracesAndLogs(): Promise<unknown[]> {
  const received = await withReceiver(async (receiver) => {
    const ticks = new Ticks();
    const provider = tracing(
      new BatchSpanProcessor(new OTLPTraceExporter({ url: `${receiver}/v1/traces` })),
    );
    const logs = new LoggerProvider({
      resource: RESOURCE,
      processors: [
        new BatchLogRecordProcessor({
          exporter: new OTLPLogExporter({ url: `${receiver}/v1/logs` }),
        }),
      ],
    });
    const content = inLogs(logs.getLogger('support-agent'), ticks);
    await withModel(REPLIES, ({ url }) =>
      runInstrumented({ url, tracer: provider.getTracer('support-agent'), ticks, content }),
    );
    await provider.shutdown();
    await logs.shutdown();
  });
  return received.map(({ bytes }) => parsed(bytes));
}

/** The export of the Vercel AI SDK's telemetry. */
async function aiSdk(): Promise<unknown> {
  const [body] = await withReceiver(async (receiver) => {
    const provider = tracing(
      new BatchSpanProcessor(new OTLPTraceExporter({ url: `${receiver}/v1/traces` })),
    );
    // The SDK finds the current span through the active context, which needs a context manager.
    provider.register();
    const tracer = provider.getTracer('ai');
    await withModel(REPLIES, ({ url }) =>
      generateText({
        ...sdkCall(url),
        prompt: QUESTION,
        experimental_telemetry: { isEnabled: true, functionId: 'support', tracer },
      }),
    );
    await provider.shutdown();
    for (const api of [context, propagation, trace]) api.disable();
  });
  return stableSpans(parsed(body!.bytes));
}

export const record = async (): Promise<Recording> => ({
  'traces.json': asJson(await traces()),
  'traces-and-logs.jsonl': asLines(await tracesAndLogs()),
  'ai-sdk.json': asJson(await aiSdk()),
});
