import { spanAdapter } from '../../otel/span-adapter.ts';

/** Spans in a list, written by OpenInference. */
export const adapter = spanAdapter(
  'otel-openinference',
  'OpenTelemetry spans in a list, OpenInference (Arize, Phoenix)',
);
