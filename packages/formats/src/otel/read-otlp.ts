import { type Fields, isFields } from '@agentci/trace';
import type { RawRecord } from '../adapter.ts';
import { amount, fields, label, nanoseconds, objects, pick, text } from '../build/values.ts';
import { anyValue, attributesOf, type LogRecord, type Span, type SpanEvent } from './span.ts';

/** The content of an OTLP request, or of one entry of its lists. */
export interface Telemetry {
  readonly spans: readonly Span[];
  readonly logs: readonly LogRecord[];
}

const SPAN_LISTS = ['resourceSpans', 'resource_spans', 'batches'];
const LOG_LISTS = ['resourceLogs', 'resource_logs'];
const SCOPES = [
  'scopeSpans',
  'scope_spans',
  'instrumentationLibrarySpans',
  'scopeLogs',
  'scope_logs',
];

/** Whether a record is an OTLP request, one entry of its lists, or Tempo's wrapper. */
export const isOtlp = (value: unknown): boolean =>
  isFields(value) &&
  ([...SPAN_LISTS, ...LOG_LISTS].some((key) => isListOf(value[key], SCOPES)) ||
    SCOPES.some((key) => isListOf(value[key], ['spans', 'logRecords', 'log_records'])) ||
    (isFields(value.trace) && isOtlp(value.trace)));

const isListOf = (value: unknown, keys: readonly string[]): boolean =>
  Array.isArray(value) &&
  (value.length === 0 ||
    value.slice(0, 5).some((item) => isFields(item) && keys.some((key) => key in item)));

/** The spans and log records of a request. */
export function readOtlp(record: RawRecord): Telemetry {
  const spans: Span[] = [];
  const logs: LogRecord[] = [];
  const root = fields(record.value);
  const request = isFields(root.trace) ? root.trace : root;
  const entries = [...SPAN_LISTS, ...LOG_LISTS].flatMap((key) => objects(request[key]));
  for (const entry of entries.length === 0 ? [request] : entries) {
    const resource = attributesOf(fields(entry.resource).attributes);
    for (const scoped of SCOPES.flatMap((key) => objects(entry[key]))) {
      const scope = label(fields(pick(scoped, 'scope', 'instrumentationLibrary')).name) ?? '';
      for (const span of objects(scoped.spans))
        spans.push(spanOf(span, { scope, resource, record }));
      for (const log of objects(pick(scoped, 'logRecords', 'log_records')))
        logs.push(logOf(log, { scope, resource, record }));
    }
  }
  return { spans, logs };
}

interface Around {
  readonly scope: string;
  readonly resource: Fields;
  readonly record: RawRecord;
}

function spanOf(span: Fields, around: Around): Span {
  const status = fields(span.status);
  return {
    ...around,
    name: text(span.name) ?? '',
    attributes: attributesOf(span.attributes),
    events: objects(span.events).map(eventOf),
    outcome: outcomeOf(status.code),
    id: idOf(pick(span, 'spanId', 'span_id'), 16),
    parent: idOf(pick(span, 'parentSpanId', 'parent_span_id'), 16),
    traceId: idOf(pick(span, 'traceId', 'trace_id'), 32),
    t0: nanoseconds(pick(span, 'startTimeUnixNano', 'start_time_unix_nano')),
    t1: nanoseconds(pick(span, 'endTimeUnixNano', 'end_time_unix_nano')),
    statusMessage: label(status.message),
    dropped: amount(pick(span, 'droppedAttributesCount', 'dropped_attributes_count')) || undefined,
  };
}

const eventOf = (event: Fields): SpanEvent => ({
  name: text(event.name) ?? '',
  attributes: attributesOf(event.attributes),
  at: nanoseconds(pick(event, 'timeUnixNano', 'time_unix_nano')),
});

function logOf(log: Fields, around: Around): LogRecord {
  const attributes = attributesOf(log.attributes);
  return {
    ...around,
    name: label(pick(log, 'eventName', 'event_name')) ?? label(attributes['event.name']) ?? '',
    attributes,
    at: nanoseconds(
      pick(log, 'timeUnixNano', 'time_unix_nano') ??
        pick(log, 'observedTimeUnixNano', 'observed_time_unix_nano'),
    ),
    body: log.body === undefined ? undefined : anyValue(log.body),
    traceId: idOf(pick(log, 'traceId', 'trace_id'), 32),
    spanId: idOf(pick(log, 'spanId', 'span_id'), 16),
  };
}

/** Enums are integers in the standard and names in exports that went through protobuf's own JSON. */
export function outcomeOf(code: unknown): NonNullable<Span['outcome']> {
  const said = typeof code === 'string' ? code.toUpperCase() : code;
  if (said === 2 || said === 'ERROR' || said === 'STATUS_CODE_ERROR' || said === 'STATUSCODE.ERROR')
    return 'error';
  return said === 1 || said === 'OK' || said === 'STATUS_CODE_OK' || said === 'STATUSCODE.OK'
    ? 'ok'
    : 'unset';
}

/** Ids are hexadecimal in any case; old dumps use base64. Zeros and empty mean none. */
export function idOf(value: unknown, digits: number): string | undefined {
  const id = label(value);
  if (id === undefined || /^0+$/.test(id)) return undefined;
  if (/^[0-9a-f]+$/i.test(id)) return id.toLowerCase();
  const bytes = /^[A-Za-z0-9+/]+={0,2}$/.test(id) ? Buffer.from(id, 'base64').toString('hex') : '';
  return bytes.length === digits ? bytes : id;
}
