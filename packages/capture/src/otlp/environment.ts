import { defined } from '@agentci/lib/data';
import type { CaptureNote, PlaneEnvironment } from '../plane.ts';
import { type Collector, collectorOf } from './collector.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Batch delay of SDKs. Spans of a short program must arrive before it ends. */
const DELAY_MS = '200';
/** SDKs silently drop spans when their queue is full. */
const QUEUE = '16384';
const ATTRIBUTES = '4096';

/** Identifies calls of our agent. gRPC has no path for the token, so this is in its metadata. */
export const RUN_HEADER = 'agentci-run';

/** Instrumentations leave messages out of spans by default. */
const CONTENT: Readonly<Record<string, string>> = {
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
  ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE: 'content',
  TRACELOOP_TRACE_CONTENT: 'true',
};

/** Variables for another receiver, or that would suppress spans. */
const UNSET = [
  'OTEL_SDK_DISABLED',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT',
  'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT',
  ...['', '_TRACES', '_LOGS'].flatMap((signal) =>
    ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'].map(
      (name) => `OTEL_EXPORTER_OTLP${signal}_${name}`,
    ),
  ),
  ...['TRACES', 'LOGS'].flatMap((signal) =>
    ['HEADERS', 'INSECURE', 'COMPRESSION', 'TIMEOUT'].map(
      (name) => `OTEL_EXPORTER_OTLP_${signal}_${name}`,
    ),
  ),
];

/** The variables that send an agent's spans and logs to the plane at `base`. */
export function otlpEnvironment(options: {
  readonly base: string;
  readonly token: string;
  readonly env: Env;
  readonly collectors: readonly Collector[];
  /** Known if the agent makes one run and ends. */
  readonly runId?: string | undefined;
  readonly traceparent?: string | undefined;
}): PlaneEnvironment {
  const { base, token, env, collectors, runId, traceparent } = options;
  const endpoint = `${base}/otlp`;
  const set: Record<string, string> = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/v1/traces`,
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${endpoint}/v1/logs`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: `${RUN_HEADER}=${token}`,
    OTEL_EXPORTER_OTLP_INSECURE: 'true',
    OTEL_TRACES_EXPORTER: withOtlp(env.OTEL_TRACES_EXPORTER),
    OTEL_LOGS_EXPORTER: withOtlp(env.OTEL_LOGS_EXPORTER),
    OTEL_TRACES_SAMPLER: 'always_on',
    OTEL_BSP_SCHEDULE_DELAY: DELAY_MS,
    OTEL_BLRP_SCHEDULE_DELAY: DELAY_MS,
    OTEL_BSP_MAX_QUEUE_SIZE: QUEUE,
    OTEL_BLRP_MAX_QUEUE_SIZE: QUEUE,
    OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: ATTRIBUTES,
    OTEL_SPAN_EVENT_COUNT_LIMIT: ATTRIBUTES,
  };
  if (runId !== undefined)
    set.OTEL_RESOURCE_ATTRIBUTES = [env.OTEL_RESOURCE_ATTRIBUTES, `agentci.run_id=${runId}`]
      .filter(Boolean)
      .join(',');
  if (traceparent !== undefined && !env.TRACEPARENT) set.TRACEPARENT = traceparent;
  Object.assign(set, metricsVariables(env, endpoint));
  const notes: CaptureNote[] = [];
  if (collectors.length === 0) {
    for (const [name, value] of Object.entries(CONTENT)) if (!env[name]) set[name] = value;
  } else {
    const hosts = [...new Set(collectors.map(({ url }) => url.host))].join(', ');
    notes.push({
      code: 'CAPTURE_COLLECTOR',
      message: `spans go to the capture and, as a copy, to ${hosts}; messages are in them only if your own variables say so`,
    });
  }
  return { set, unset: UNSET.filter((name) => env[name] !== undefined), notes };
}

/** Metrics are not evidence of a run. They keep their target, or are disabled. */
function metricsVariables(env: Env, endpoint: string): Record<string, string> {
  const own = env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT;
  if (own) {
    const { OTEL_EXPORTER_OTLP_HEADERS: headers, OTEL_EXPORTER_OTLP_METRICS_HEADERS: mine } = env;
    const protocol = env.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL;
    return defined({
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: headers && !mine ? headers : undefined,
      OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol || undefined,
    });
  }
  if (collectorOf('metrics', env) !== undefined)
    return { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${endpoint}/v1/metrics` };
  return env.OTEL_METRICS_EXPORTER ? {} : { OTEL_METRICS_EXPORTER: 'none' };
}

/** The user's own exporters stay. */
function withOtlp(given: string | undefined): string {
  const names = (given ?? '').split(',').map((name) => name.trim());
  const others = names.filter((name) => name !== '' && name !== 'none' && name !== 'otlp');
  return [...others, 'otlp'].join(',');
}
