import type { Adapter } from '../../adapter.ts';
import { OtlpSession } from '../../otel/otlp-session.ts';
import { isOtlp } from '../../otel/read-otlp.ts';

/**
 * OpenTelemetry protocol as JSON: one request, or one per line from the collector, with traces and
 * logs joined.
 */
export const adapter: Adapter = {
  format: 'otlp-json',
  summary: 'OpenTelemetry protocol, JSON: traces and logs, one request, or one per line; Tempo',
  unit: 'file',
  detect: (sample) => (sample.length > 0 && sample.every(isOtlp) ? 1 : 0),
  read: (records) => {
    const session = new OtlpSession('otlp-json');
    return [...session.push(records), ...session.end()];
  },
  open: () => new OtlpSession('otlp-json'),
};
