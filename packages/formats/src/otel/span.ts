import { type Fields, isFields } from '@agentci/trace';
import type { RawRecord } from '../adapter.ts';

/** A span of OpenTelemetry, whatever file it came in. Times are epoch milliseconds. */
export interface Span {
  /** Undefined in exports without ids, whose nesting is inferred from times. */
  readonly id?: string;
  readonly parent?: string;
  readonly traceId?: string;
  readonly name: string;
  /** The instrumentation that wrote it. */
  readonly scope: string;
  readonly t0?: number;
  readonly t1?: number;
  readonly attributes: Fields;
  readonly resource: Fields;
  readonly events: readonly SpanEvent[];
  /** Success is usually `unset`. Undefined if the export has no status. */
  readonly outcome?: 'unset' | 'ok' | 'error';
  readonly statusMessage?: string;
  /** Attributes the SDK dropped at its limit. */
  readonly dropped?: number;
  readonly record: RawRecord;
}

/** An event of a span, or a log record that was joined to it. */
export interface SpanEvent {
  readonly name: string;
  readonly at?: number;
  readonly attributes: Fields;
  readonly body?: unknown;
}

/** A log record on its own, with the span it names. */
export interface LogRecord extends SpanEvent {
  readonly traceId?: string;
  readonly spanId?: string;
  readonly scope: string;
  readonly resource: Fields;
  readonly record: RawRecord;
}

const MAX_DEPTH = 64;

/** Attributes as OTLP lists them: `[{key, value: {stringValue}}]`. Keys cannot reach a prototype. */
export function attributesOf(list: unknown): Fields {
  const attributes: Record<string, unknown> = Object.create(null);
  if (isFields(list)) {
    for (const [key, value] of Object.entries(list))
      attributes[key] = isAnyValue(value) ? anyValue(value, 0) : value;
  } else if (Array.isArray(list)) {
    for (const item of list) {
      if (!isFields(item) || typeof item.key !== 'string') continue;
      attributes[item.key] = 'value' in item ? anyValue(item.value, 0) : undefined;
    }
  }
  return attributes;
}

const KINDS = [
  'stringValue',
  'intValue',
  'doubleValue',
  'boolValue',
  'arrayValue',
  'kvlistValue',
  'bytesValue',
];
const SNAKE: Readonly<Record<string, string>> = Object.fromEntries(
  KINDS.map((kind) => [kind.replace('Value', '_value'), kind]),
);

const isAnyValue = (value: unknown): value is Fields => {
  if (!isFields(value)) return false;
  const keys = Object.keys(value);
  return keys.length === 1 && (KINDS.includes(keys[0]!) || Object.hasOwn(SNAKE, keys[0]!));
};

/** Decodes an OTLP value; plain values stay. 64-bit integers are text or numbers. */
export function anyValue(value: unknown, depth = 0): unknown {
  if (!isFields(value) || depth > MAX_DEPTH) return isFields(value) ? undefined : value;
  const [written] = Object.keys(value);
  if (written === undefined) return undefined;
  const key = Object.hasOwn(SNAKE, written) ? SNAKE[written]! : written;
  const inner = value[written];
  switch (key) {
    case 'intValue':
      return typeof inner === 'string' && /^-?\d{1,15}$/.test(inner) ? Number(inner) : inner;
    case 'arrayValue':
      return isFields(inner) && Array.isArray(inner.values)
        ? inner.values.map((item) => anyValue(item, depth + 1))
        : [];
    case 'kvlistValue':
      return isFields(inner) ? kvlist(inner.values, depth + 1) : {};
    case 'stringValue':
    case 'doubleValue':
    case 'boolValue':
    case 'bytesValue':
      return inner;
    default:
      return value;
  }
}

function kvlist(values: unknown, depth: number): Fields {
  const object: Record<string, unknown> = Object.create(null);
  for (const item of Array.isArray(values) ? values : [])
    if (isFields(item) && typeof item.key === 'string')
      object[item.key] = anyValue(item.value, depth);
  return { ...object };
}
