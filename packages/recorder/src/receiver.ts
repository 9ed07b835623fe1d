import { gunzipSync } from 'node:zlib';
import {
  type IdGenerator,
  NodeTracerProvider,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { listen } from './tee.ts';

/** A body sent by an exporter. */
export interface Received {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Runs a function with an OpenTelemetry receiver, and returns the received bodies. */
export async function withReceiver(
  use: (url: string) => Promise<void>,
): Promise<readonly Received[]> {
  const received: Received[] = [];
  const server = await listen(async (incoming, _, bytes) => {
    const isPacked = incoming.headers['content-encoding'] === 'gzip';
    received.push({ path: incoming.url ?? '', bytes: isPacked ? gunzipSync(bytes) : bytes });
    return {};
  });
  try {
    await use(server.url);
  } finally {
    await server.close();
  }
  return received;
}

/** Sequential ids. */
function countedIds(): IdGenerator {
  let traces = 0;
  let spans = 0;
  return {
    generateTraceId: () => `a9e0c1${(++traces).toString(16).padStart(26, '0')}`,
    generateSpanId: () => `5a${(++spans).toString(16).padStart(14, '0')}`,
  };
}

type Resource = NonNullable<
  NonNullable<ConstructorParameters<typeof NodeTracerProvider>[0]>['resource']
>;

/** The telemetry resource. The SDK's default contains the program's path on this machine. */
export const RESOURCE: Resource = {
  attributes: { 'service.name': 'support' },
  getRawAttributes: () => [['service.name', 'support']],
  merge: () => RESOURCE,
};

/** An SDK tracer with deterministic spans. */
export const tracing = (processor: SpanProcessor): NodeTracerProvider =>
  new NodeTracerProvider({
    resource: RESOURCE,
    idGenerator: countedIds(),
    spanProcessors: [processor],
  });
