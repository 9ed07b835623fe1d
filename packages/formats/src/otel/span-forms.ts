import { type Fields, isFields } from '@agentci/trace';
import { fields, label, objects, pick } from '../build/values.ts';

/** OpenInference's span kinds. Phoenix has a separate field for the kind. */
const KINDS = new Set([
  'LLM',
  'TOOL',
  'AGENT',
  'CHAIN',
  'RETRIEVER',
  'RERANKER',
  'EMBEDDING',
  'GUARDRAIL',
  'EVALUATOR',
  'PROMPT',
]);
const KIND = 'openinference.span.kind';

/** Renames the fields of an exported span to the SDKs' names. Returns any other value unchanged. */
export function canonicalSpan(value: Fields): Fields {
  if (hasTableNames(value)) return tableSpan(value);
  const whole = 'context.span_id' in value ? dataframeRow(value) : value;
  return withKind(whole);
}

/** In Phoenix exports `span_kind` is the kind; the protocol's kind (`INTERNAL`) says nothing. */
function withKind(span: Fields): Fields {
  const kind = typeof span.span_kind === 'string' ? span.span_kind.toUpperCase() : '';
  if (!KINDS.has(kind)) return span;
  const attributes = fields(span.attributes);
  const isSaid = KIND in attributes || isFields(attributes.openinference);
  return {
    ...span,
    attributes: isSaid ? attributes : { ...attributes, [KIND]: kind },
    isPhoenix: true,
  };
}

/** A row of Phoenix's table of spans: `context.span_id` and `attributes.llm.model_name` are columns. */
function dataframeRow(row: Fields): Fields {
  const attributes: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(row)) {
    // A table has every column for every span.
    if (value === null || value === undefined) continue;
    if (key.startsWith('attributes.')) attributes[key.slice('attributes.'.length)] = value;
    else rest[key] = value;
  }
  const { 'context.span_id': span_id, 'context.trace_id': trace_id } = row;
  return {
    ...rest,
    context: { span_id, trace_id },
    attributes: { ...fields(row.attributes), ...attributes },
  };
}

/** Columns of the collector's ClickHouse span table; other writers use snake case. */
const TABLE = [
  ['SpanName', 'span_name', 'name'],
  ['SpanAttributes', 'span_attributes', 'attributes'],
  ['SpanId', 'span_id', 'span_id'],
  ['TraceId', 'trace_id', 'trace_id'],
  ['ParentSpanId', 'parent_span_id', 'parent_span_id'],
  ['StatusCode', 'status_code', 'status_code'],
  ['StatusMessage', 'status_message', 'status_message'],
] as const;

const hasTableNames = (value: Fields): boolean =>
  (typeof value.SpanName === 'string' && isFields(value.SpanAttributes)) ||
  (typeof value.span_name === 'string' && isFields(value.span_attributes));

function tableSpan(row: Fields): Fields {
  const start = pick(row, 'Timestamp', 'timestamp');
  const scope = label(pick(row, 'ScopeName', 'scope_name'));
  const resource = pick(row, 'ResourceAttributes', 'resource_attributes');
  const span: Record<string, unknown> = {
    start_time: start,
    events: eventsOf(row),
    child_spans: pick(row, 'child_spans', 'ChildSpans'),
    resource: isFields(resource) ? { attributes: resource } : undefined,
    scope: scope === undefined ? undefined : { name: scope },
    duration_ms: durationOf(pick(row, 'Duration', 'duration')),
  };
  for (const [camel, snake, name] of TABLE) {
    const value = pick(row, camel, snake);
    if (value !== undefined) span[name] = value;
  }
  return span;
}

/** Events are a list of objects, or one list per field. */
function eventsOf(row: Fields): Fields[] {
  const names = pick(row, 'Events.Name', 'events.name');
  const times = pick(row, 'Events.Timestamp', 'events.timestamp');
  const attributes = pick(row, 'Events.Attributes', 'events.attributes');
  if (Array.isArray(names))
    return names.map((name, i) => ({
      name,
      timestamp: Array.isArray(times) ? times[i] : undefined,
      attributes: Array.isArray(attributes) ? attributes[i] : undefined,
    }));
  return objects(pick(row, 'Events', 'events')).map((event) => ({
    name: pick(event, 'Name', 'name', 'EventName'),
    timestamp: pick(event, 'Timestamp', 'timestamp'),
    attributes: pick(event, 'Attributes', 'attributes'),
  }));
}

const ISO_DURATION = /^PT(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9}(?:\.\d{1,12})?)S)?$/;

/** Converts nanoseconds, or a text such as `PT1M48.7S`, to milliseconds. */
function durationOf(value: unknown): number | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) && value >= 0 ? value / 1e6 : undefined;
  if (typeof value !== 'string') return undefined;
  if (/^\d{1,18}$/.test(value)) return Number(value) / 1e6;
  const [whole, hours = '0', minutes = '0', seconds = '0'] = ISO_DURATION.exec(value) ?? [];
  return whole === undefined
    ? undefined
    : Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000;
}

/** A table written column by column, `{name: {0: …}, span_kind: {0: …}}`, row by row. */
export function rowsOfColumns(value: Fields): readonly Fields[] {
  const ids = value['context.span_id'];
  if (!isFields(ids) || !isFields(value.name)) return [];
  return Object.keys(ids).map((row) =>
    Object.fromEntries(
      Object.entries(value).flatMap(([column, cells]) =>
        isFields(cells) && Object.hasOwn(cells, row) ? [[column, cells[row]] as const] : [],
      ),
    ),
  );
}

const MAX_DEPTH = 64;
const CHILDREN = ['child_spans', 'children'];

/** A span with its nested ones. The nesting defines parents, and missing ids are added. */
export function withChildren(root: Fields, isSpan: (value: Fields) => boolean): readonly Fields[] {
  if (!CHILDREN.some((key) => Array.isArray(root[key]))) return [root];
  const found: Fields[] = [];
  const open: { span: Fields; parent: string | undefined; trace: unknown; depth: number }[] = [
    { span: root, parent: undefined, trace: undefined, depth: 0 },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { span, parent, depth } = next;
    const id = label(idIn(span)) ?? `nested-${found.length + 1}`;
    const trace = traceIn(span) ?? next.trace;
    found.push({
      ...span,
      ...(idIn(span) === undefined ? { span_id: id } : {}),
      ...(parent === undefined || parentIn(span) !== undefined ? {} : { parent_span_id: parent }),
      ...(traceIn(span) !== undefined || trace === undefined ? {} : { trace_id: trace }),
    });
    if (depth >= MAX_DEPTH) continue;
    const children = CHILDREN.flatMap((key) => objects(span[key])).map(canonicalSpan);
    for (const child of children.filter(isSpan).toReversed())
      open.push({ span: child, parent: id, trace, depth: depth + 1 });
  }
  return found;
}

const idIn = (span: Fields): unknown =>
  pick(span, 'span_id', 'spanId', 'spanID', 'id') ??
  pick(fields(span.context), 'span_id', 'spanId');
const traceIn = (span: Fields): unknown =>
  pick(span, 'trace_id', 'traceId', 'traceID') ?? pick(fields(span.context), 'trace_id', 'traceId');
const parentIn = (span: Fields): unknown =>
  pick(span, 'parent_span_id', 'parentSpanId', 'parent_id', 'parentId');
