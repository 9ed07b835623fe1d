import { type Fields, isFields } from '@agentci/trace';
import type { RawRecord } from '../adapter.ts';
import { namedRuns } from '../build/named-runs.ts';
import { fields, label, nanoseconds, objects, pick, text, time } from '../build/values.ts';
import { withAdotContent } from './adot-content.ts';
import { idOf, outcomeOf } from './read-otlp.ts';
import { attributesOf, type Span, type SpanEvent } from './span.ts';
import { canonicalSpan, rowsOfColumns, withChildren } from './span-forms.ts';

/** Keys under which exports keep a list of spans. */
const LISTS = ['spans', 'data'];

/** The span objects of a record: itself with nested ones, its wrapped list, or named lists. */
export function spanObjects(value: unknown): readonly Fields[] {
  if (!isFields(value)) return [];
  const listed = listedSpans(value);
  return listed.length > 0 ? listed : namedSpans(value);
}

/** Jaeger nests its spans one level deeper. */
function listedSpans(value: Fields): readonly Fields[] {
  const own = canonicalSpan(value);
  if (isSpanLike(own)) return withChildren(own, isSpanLike);
  const columns = rowsOfColumns(value).map(canonicalSpan);
  if (columns.length > 0) return columns.every(isSpanLike) ? columns : [];
  return LISTS.flatMap((key) => objects(value[key])).flatMap((item: Fields) => {
    const span = canonicalSpan(item);
    if (isSpanLike(span)) return withChildren(span, isSpanLike);
    const { spans, processes } = item;
    return objects(spans)
      .map(canonicalSpan)
      .filter((inner) => isSpanLike(inner))
      .flatMap((inner) => withChildren(withProcess(inner, fields(processes)), isSpanLike));
  });
}

/** Traces in one object under names, which become the ids of runs with one trace. */
function namedSpans(value: Fields): readonly Fields[] {
  const named = namedRuns(value, (inner) => {
    // One span under a name is a wrapped span, not a trace.
    let items: readonly unknown[] = [];
    if (Array.isArray(inner)) items = inner;
    else if (Array.isArray(fields(inner).spans)) items = [inner];
    const spans = items.map((item) => (isFields(item) ? listedSpans(item) : []));
    return spans.length > 0 && spans.every((found) => found.length > 0) ? spans.flat() : undefined;
  });
  return (named ?? []).flatMap(([name, spans]) => {
    const traces = new Set(
      spans.map((span) => label(span.trace_id ?? fields(span.context).trace_id)),
    );
    if (traces.size > 1) return spans;
    return spans.map((span) => ({ ...span, resource: withRunId(span, name) }));
  });
}

const withRunId = (span: Fields, name: string): Fields => ({
  attributes: { ...attributesOf(fields(span.resource).attributes), 'agentci.run_id': name },
});

/** Jaeger names the service once, next to the spans. */
const withProcess = (span: Fields, processes: Fields): Fields => {
  const process = typeof span.processID === 'string' ? fields(processes[span.processID]) : {};
  return { ...span, process };
};

/** A span on its own: a name and attributes (or a kind of tags), and times or ids. */
export function isSpanLike(value: unknown): value is Fields {
  if (!isFields(value)) return false;
  const isNamed = typeof value.name === 'string' || typeof value.operationName === 'string';
  const hasAttributes =
    isFields(value.attributes) || Array.isArray(value.attributes) || 'tags' in value;
  const hasTimes =
    TIMES.some((key) => key in value) || ('timestamp' in value && 'traceId' in value);
  return (
    isNamed && hasAttributes && hasTimes && !('run_type' in value) && !('observations' in value)
  );
}

const TIMES = [
  'start_time',
  'startTime',
  'startTimeUnixNano',
  'start_time_unix_nano',
  'start',
  'startedAt',
];

export const flatSpan = (span: Fields, record: RawRecord): Span =>
  withAdotContent(bareSpan(span, record));

function bareSpan(span: Fields, record: RawRecord): Span {
  const context = fields(pick(span, 'context', 'spanContext', 'span_context'));
  const tags = pick(span, 'attributes', 'tags');
  const attributes =
    Array.isArray(tags) && isFields(tags[0]) && 'type' in tags[0]
      ? jaegerTags(tags)
      : dotted(attributesOf(tags));
  const t0 = startOf(span);
  const given = span.status ?? pick(span, 'status_code', 'statusCode');
  const status = statusOf(given);
  // Phoenix writes null for no parent, so an id of zeros is a real one there.
  const id = span.isPhoenix === true ? label : idOf;
  const reference = objects(span.references).find(({ refType }) => refType === 'CHILD_OF');
  let outcome: 'error' | 'ok' | 'unset' | undefined;
  if (isFailed(attributes)) outcome = 'error';
  else if (given === undefined) outcome = undefined;
  else outcome = status.outcome;
  return {
    name: text(pick(span, 'name', 'operationName')) ?? '',
    scope:
      label(
        fields(
          pick(
            span,
            'scope',
            'instrumentation_scope',
            'instrumentationScope',
            'instrumentationLibrary',
          ),
        ).name,
      ) ??
      label(attributes['otel.scope.name']) ??
      '',
    attributes,
    resource: attributesOf(fields(span.resource).attributes ?? fields(span.process).tags),
    events: objects(pick(span, 'events', 'span_events', 'logs', 'annotations')).map(eventOf),
    record,
    id: id(
      pick(span, 'span_id', 'spanId', 'spanID') ?? pick(context, 'span_id', 'spanId') ?? span.id,
      16,
    ),
    parent: id(
      pick(span, 'parent_span_id', 'parentSpanId', 'parent_id', 'parentId', 'parentSpanID') ??
        pick(fields(span.parentSpanContext), 'spanId', 'span_id') ??
        reference?.spanID,
      16,
    ),
    traceId: id(
      pick(span, 'trace_id', 'traceId', 'traceID') ?? pick(context, 'trace_id', 'traceId'),
      32,
    ),
    t0,
    t1: endOf(span, t0),
    // An export without a status does not claim success.
    outcome,
    statusMessage: label(status.message) ?? label(span.status_message),
  };
}

/** The names under which exports nest attributes: `{llm: {model_name}}` for `llm.model_name`. */
const NESTED = new Set([
  'openinference',
  'llm',
  'input',
  'output',
  'tool',
  'tool_call',
  'agent',
  'retrieval',
  'gen_ai',
  'graph',
]);

/** Flattens nested attributes. Lists stay lists. */
function dotted(attributes: Fields): Fields {
  if (!Object.entries(attributes).some(([key, value]) => NESTED.has(key) && isFields(value)))
    return attributes;
  const flat: Record<string, unknown> = {};
  const add = (path: string, value: unknown, depth: number): void => {
    if (!isFields(value) || depth > 8) flat[path] = value;
    else for (const [key, item] of Object.entries(value)) add(`${path}.${key}`, item, depth + 1);
  };
  for (const [key, value] of Object.entries(attributes))
    if (NESTED.has(key) && isFields(value)) add(key, value, 0);
    else flat[key] = value;
  return flat;
}

/** Jaeger and Zipkin use a tag. */
const isFailed = (attributes: Fields): boolean =>
  attributes.error === true ||
  attributes.error === 'true' ||
  attributes['otel.status_code'] === 'ERROR';

function statusOf(status: unknown): { outcome: NonNullable<Span['outcome']>; message?: unknown } {
  if (typeof status === 'string' || typeof status === 'number')
    return { outcome: outcomeOf(status) };
  const { message, description, code, status_code } = fields(status);
  return { outcome: outcomeOf(code ?? status_code), message: message ?? description };
}

function jaegerTags(tags: readonly unknown[]): Fields {
  return attributesOf(tags.map((tag) => ({ key: fields(tag).key, value: fields(tag).value })));
}

function startOf(span: Fields): number | undefined {
  const nano = pick(span, 'startTimeUnixNano', 'start_time_unix_nano');
  if (nano !== undefined) return nanoseconds(nano) ?? time(nano);
  // The JavaScript SDK prints [seconds, nanoseconds].
  return (
    hrTime(span.startTime) ??
    time(pick(span, 'start_time', 'startTime', 'start', 'startedAt', 'timestamp'))
  );
}

function endOf(span: Fields, t0: number | undefined): number | undefined {
  const nano = pick(span, 'endTimeUnixNano', 'end_time_unix_nano');
  if (nano !== undefined) return nanoseconds(nano) ?? time(nano);
  const given = hrTime(span.endTime) ?? time(pick(span, 'end_time', 'endTime', 'end', 'endedAt'));
  if (given !== undefined || t0 === undefined) return given;
  // Jaeger and Zipkin durations are in microseconds.
  const { duration, duration_ms } = span;
  if (typeof duration_ms === 'number' && duration_ms >= 0) return t0 + duration_ms;
  return typeof duration === 'number' && Number.isFinite(duration) && duration >= 0
    ? t0 + duration / 1000
    : undefined;
}

const hrTime = (value: unknown): number | undefined =>
  Array.isArray(value) && typeof value[0] === 'number' && typeof value[1] === 'number'
    ? time(value[0] * 1000 + value[1] / 1e6)
    : undefined;

function eventOf(event: Fields): SpanEvent {
  const attributes = Array.isArray(event.fields)
    ? jaegerTags(event.fields)
    : attributesOf(event.attributes);
  return {
    name: text(pick(event, 'name', 'event_name', 'value')) ?? label(attributes.event) ?? '',
    attributes,
    at:
      nanoseconds(pick(event, 'timeUnixNano', 'time_unix_nano')) ??
      time(pick(event, 'timestamp', 'time')),
    body: event.body,
  };
}
