import type { Adapter } from '../../adapter.ts';
import { OtlpSession } from '../../otel/otlp-session.ts';

/** The OpenTelemetry protocol as protobuf: the body an exporter sends. It is decoded to the shape of the JSON. */
export const adapter: Adapter = {
  format: 'otlp-protobuf',
  summary: 'OpenTelemetry protocol, protobuf: the body of a request',
  unit: 'file',
  // Known by its bytes, before there are records.
  detect: () => 0,
  read: (records) => {
    const session = new OtlpSession('otlp-protobuf');
    return [...session.push(records), ...session.end()];
  },
};
