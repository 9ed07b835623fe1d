import { spanAdapter } from '../../otel/span-adapter.ts';

/** Spans in a list, written by OpenLLMetry. */
export const adapter = spanAdapter(
  'otel-openllmetry',
  'OpenTelemetry spans in a list, OpenLLMetry (Traceloop)',
);
