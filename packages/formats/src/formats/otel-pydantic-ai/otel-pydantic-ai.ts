import { spanAdapter } from '../../otel/span-adapter.ts';

/** Spans in a list, written by Pydantic AI and Logfire. */
export const adapter = spanAdapter(
  'otel-pydantic-ai',
  'OpenTelemetry spans in a list, Pydantic AI',
);
