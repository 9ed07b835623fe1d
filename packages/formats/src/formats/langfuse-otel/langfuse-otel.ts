import { spanAdapter } from '../../otel/span-adapter.ts';

/** Spans in a list, written by the SDK of Langfuse. */
export const adapter = spanAdapter('langfuse-otel', 'OpenTelemetry spans in a list, Langfuse SDK');
