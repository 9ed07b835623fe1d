import { gunzipSync } from 'node:zlib';
import {
  type IdGenerator,
  NodeTracerProvider,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { listen } from './tee.ts';

/** A body as an exporter sent it. */
export interface Received {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Runs something beside a receiver of the OpenTelemetry protocol, and gives what it was sent. */
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

/** Ids in the order they are requested. */
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

/** What the telemetry is about. The SDK's own default names the program by its path on this machine. */
export const RESOURCE: Resource = {
  attributes: { 'service.name': 'support' },
  getRawAttributes: () => [['service.name', 'support']],
  merge: () => RESOURCE,
};

/** A tracer of the SDK whose spans are the same in every run. */
export const tracing = (processor: SpanProcessor): NodeTracerProvider =>
  new NodeTracerProvider({
    resource: RESOURCE,
    idGenerator: countedIds(),
    spanProcessors: [processor],
  });
