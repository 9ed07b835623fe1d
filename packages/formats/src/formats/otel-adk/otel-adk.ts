import { spanAdapter } from '../../otel/span-adapter.ts';

/** Spans in a list, written by the Agent Development Kit of Google. */
export const adapter = spanAdapter('otel-adk', 'OpenTelemetry spans in a list, Google ADK');
