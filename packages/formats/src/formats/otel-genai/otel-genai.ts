import { spanAdapter } from '../../otel/span-adapter.ts';

/** A list of spans with GenAI conventions, and every dialect without a separate format. */
export const adapter = spanAdapter(
  'otel-genai',
  'OpenTelemetry spans in a list, GenAI conventions',
);
