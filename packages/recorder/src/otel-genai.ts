import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { tracing } from './receiver.ts';
import { asJson, type Recording } from './recording.ts';
import { REPLIES } from './story.ts';
import { withModel } from './tee.ts';
import { runInstrumented, Ticks } from './telemetry.ts';
import { onSpans } from './telemetry-content.ts';

/** Spans kept in memory and printed, like in agent tests. */
export async function record(): Promise<Recording> {
  const exporter = new InMemorySpanExporter();
  const provider = tracing(new SimpleSpanProcessor(exporter));
  await withModel(REPLIES, ({ url }) =>
    runInstrumented({
      url,
      tracer: provider.getTracer('support-agent'),
      ticks: new Ticks(),
      content: onSpans,
    }),
  );
  const spans = exporter.getFinishedSpans().map(plainSpan);
  await provider.shutdown();
  return { 'spans.json': asJson(spans) };
}

/** Fields of the SDK's public interface. Its objects have internal references as well. */
const plainSpan = (span: ReadableSpan) => ({
  name: span.name,
  kind: span.kind,
  spanContext: span.spanContext(),
  parentSpanContext: span.parentSpanContext,
  startTime: span.startTime,
  endTime: span.endTime,
  status: span.status,
  attributes: span.attributes,
  events: span.events,
  resource: { attributes: span.resource.attributes },
  instrumentationScope: span.instrumentationScope,
});
