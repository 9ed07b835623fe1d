import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { tracing, withReceiver } from './receiver.ts';
import type { Recording } from './recording.ts';
import { REPLIES } from './story.ts';
import { withModel } from './tee.ts';
import { runInstrumented, Ticks } from './telemetry.ts';
import { onSpans } from './telemetry-content.ts';

/** The same spans as `otlp-json`, in the encoding most exporters use. */
export async function record(): Promise<Recording> {
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
  return { 'traces.pb': body!.bytes };
}
