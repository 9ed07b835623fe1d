import { isFields } from '@agentci/trace';
import type { Adapter, RawRecord } from '../../adapter.ts';
import { fields, label, nanoseconds, objects, pick, unpacked } from '../../build/values.ts';
import { flatSpan, isSpanLike } from '../../otel/flat-spans.ts';
import { joinLogs } from '../../otel/join-logs.ts';
import { idOf } from '../../otel/read-otlp.ts';
import { noAgentSpans, readSpans } from '../../otel/read-spans.ts';
import { attributesOf, type LogRecord } from '../../otel/span.ts';

const FORMAT = 'agentcore';

/**
 * CloudWatch records of Bedrock AgentCore: single OpenTelemetry spans and log records, plain or
 * wrapped by a fetcher. Messages in log records are joined to their spans.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary:
    'Bedrock AgentCore in CloudWatch: spans and log records (ADOT), bare or under raw_otel_json or @message',
  unit: 'file',
  detect: (sample) => {
    const found = sample.map(recordsIn);
    if (found.length === 0 || !found.every((records) => records.length > 0)) return 0;
    // Spans alone, without a wrapper, are a list of spans.
    const isOwn = sample.some((value, i) => isWrapper(value) || found[i]!.some(isLog));
    return isOwn && found.flat().some(isTelemetry) ? 0.95 : 0;
  },
  recognises: (value) => isWrapper(value) || recordsIn(value).some(isTelemetry),
  read: (records) => {
    const items = records.flatMap((record) =>
      recordsIn(record.value).map((value) => ({ ...record, value })),
    );
    const spans = items
      .filter(({ value }) => isSpan(value))
      .map((item) => flatSpan(fields(item.value), item));
    const logs = items.filter(({ value }) => isLog(value)).map(logOf);
    const read = readSpans(joinLogs({ spans, logs }), FORMAT);
    return read.length > 0 || records[0] === undefined ? read : [noAgentSpans(records[0])];
  },
};

const WRAPPERS = ['raw_otel_json', '@message'];

const isWrapper = (value: unknown): boolean =>
  isFields(value) && WRAPPERS.some((key) => key in value);
/**
 * The records in a value: itself, the content of a wrapper, or the messages of an `aws logs` page,
 * including lines of the program.
 */
function recordsIn(value: unknown): readonly unknown[] {
  if (!isFields(value)) return [];
  if (Array.isArray(value.events)) {
    const lines = objects(value.events).map(({ message }) => unpacked(message));
    return lines.some(isTelemetry) ? lines : [];
  }
  const wrapper = WRAPPERS.find((key) => key in value);
  if (wrapper === undefined) return isTelemetry(value) ? [value] : [];
  const inner = unpacked(value[wrapper]);
  return isFields(inner) ? [inner] : [];
}

const isTelemetry = (value: unknown): boolean => isSpan(value) || isLog(value);

const isSpan = (value: unknown): boolean =>
  isFields(value) && isSpanLike(value) && 'startTimeUnixNano' in value && 'spanId' in value;

/** A log record that names its trace. AgentCore's own lines have a text body. */
const isLog = (value: unknown): boolean =>
  isFields(value) &&
  'body' in value &&
  typeof value.traceId === 'string' &&
  ('timeUnixNano' in value || 'observedTimeUnixNano' in value) &&
  isFields(value.scope);

function logOf(record: RawRecord): LogRecord {
  const log = fields(record.value);
  const attributes = attributesOf(log.attributes);
  const body = unpacked(log.body);
  const named =
    label(pick(log, 'eventName', 'event_name')) ?? label(attributes['event.name']) ?? '';
  return {
    record,
    name: named,
    scope: label(fields(log.scope).name) ?? '',
    resource: attributesOf(fields(log.resource).attributes),
    attributes,
    body: isFields(body) ? body : undefined,
    at: nanoseconds(pick(log, 'timeUnixNano', 'observedTimeUnixNano')),
    traceId: idOf(log.traceId, 32),
    spanId: idOf(log.spanId, 16),
  };
}
