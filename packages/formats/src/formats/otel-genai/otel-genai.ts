import { spanAdapter } from '../../otel/span-adapter.ts';

/** Spans in a list, as the GenAI conventions name things; also every dialect without a format of its own. */
export const adapter = spanAdapter(
  'otel-genai',
  'OpenTelemetry spans in a list, GenAI conventions',
);
