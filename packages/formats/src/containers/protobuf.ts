import { PbfReader } from 'pbf';
import type { Unpacked } from './unpacked.ts';

const MAX_DEPTH = 64;
const FIXED64 = 1;

type Json = Record<string, unknown>;
type Field = (into: Json, pbf: PbfReader, depth: number) => void;
/** Readers of a message's fields, by number. Other fields are skipped. */
type Message = Readonly<Record<number, Field>>;

/** An OTLP request of traces or logs, decoded to the shape its JSON has. */
export function unpackProtobuf(bytes: Uint8Array): Unpacked {
  const format = 'otlp-protobuf';
  try {
    const value = message(
      new PbfReader(bytes),
      hasLogs(bytes) ? LOGS_REQUEST : TRACES_REQUEST,
      bytes.length,
      0,
    );
    return { records: [{ value }], format };
  } catch {
    return {
      records: [],
      format,
      problems: [{ code: 'TRACE_DAMAGED', message: 'the protobuf data are damaged' }],
    };
  }
}

/** Decodes a request of known kind to its JSON shape. Throws for damaged bytes. */
export const decodeRequest = (bytes: Uint8Array, signal: 'traces' | 'logs'): Json =>
  message(new PbfReader(bytes), signal === 'logs' ? LOGS_REQUEST : TRACES_REQUEST, bytes.length, 0);

function message(pbf: PbfReader, fields: Message, end: number, depth: number): Json {
  if (depth > MAX_DEPTH) throw new RangeError('nested too deep');
  if (end > pbf.buf.length) throw new RangeError('cut off');
  return pbf.readFields<Json>((tag, into) => fields[tag]?.(into, pbf, depth), {}, end);
}

const inner = (pbf: PbfReader, fields: Message, depth: number): Json =>
  message(pbf, fields, pbf.readVarint() + pbf.pos, depth + 1);

const one =
  (name: string, fields: () => Message): Field =>
  (into, pbf, depth) => {
    into[name] = inner(pbf, fields(), depth);
  };
const many =
  (name: string, fields: () => Message): Field =>
  (into, pbf, depth) => {
    into[name] ??= [];
    (into[name] as Json[]).push(inner(pbf, fields(), depth));
  };
const scalar =
  (name: string, read: (pbf: PbfReader) => unknown): Field =>
  (into, pbf) => {
    into[name] = read(pbf);
  };
const string = (name: string): Field => scalar(name, (pbf) => pbf.readString());
const int = (name: string): Field => scalar(name, (pbf) => pbf.readVarint(true));
const hex = (name: string): Field =>
  scalar(name, (pbf) => Buffer.from(pbf.readBytes()).toString('hex'));
/** More digits than a number holds: as text, the way the JSON has it. */
const nanos = (name: string): Field =>
  scalar(name, (pbf) => {
    const low = pbf.readFixed32();
    return ((BigInt(pbf.readFixed32()) << 32n) | BigInt(low)).toString();
  });

const ANY_VALUE: Message = {
  1: string('stringValue'),
  2: scalar('boolValue', (pbf) => pbf.readBoolean()),
  3: int('intValue'),
  4: scalar('doubleValue', (pbf) => pbf.readDouble()),
  5: one('arrayValue', () => ({ 1: many('values', () => ANY_VALUE) })),
  6: one('kvlistValue', () => ({ 1: many('values', () => KEY_VALUE) })),
  7: scalar('bytesValue', (pbf) => Buffer.from(pbf.readBytes()).toString('base64')),
};
const KEY_VALUE: Message = { 1: string('key'), 2: one('value', () => ANY_VALUE) };
const ATTRIBUTES = many('attributes', () => KEY_VALUE);
const SCOPE: Message = { 1: string('name'), 2: string('version') };
const RESOURCE: Message = { 1: ATTRIBUTES };
const EVENT: Message = { 1: nanos('timeUnixNano'), 2: string('name'), 3: ATTRIBUTES };
const SPAN: Message = {
  1: hex('traceId'),
  2: hex('spanId'),
  4: hex('parentSpanId'),
  5: string('name'),
  6: int('kind'),
  7: nanos('startTimeUnixNano'),
  8: nanos('endTimeUnixNano'),
  9: ATTRIBUTES,
  10: int('droppedAttributesCount'),
  11: many('events', () => EVENT),
  15: one('status', () => ({ 2: string('message'), 3: int('code') })),
};
const LOG: Message = {
  1: nanos('timeUnixNano'),
  2: int('severityNumber'),
  5: one('body', () => ANY_VALUE),
  6: ATTRIBUTES,
  9: hex('traceId'),
  10: hex('spanId'),
  11: nanos('observedTimeUnixNano'),
  12: string('eventName'),
};
const request = (resources: string, scopes: string, items: string, item: Message): Message => ({
  1: many(resources, () => ({
    1: one('resource', () => RESOURCE),
    2: many(scopes, () => ({ 1: one('scope', () => SCOPE), 2: many(items, () => item) })),
  })),
});
const TRACES_REQUEST = request('resourceSpans', 'scopeSpans', 'spans', SPAN);
const LOGS_REQUEST = request('resourceLogs', 'scopeLogs', 'logRecords', LOG);

/**
 * Requests of traces and logs have the same shape down to their items, where a log starts with a
 * time and a span with an id.
 */
function hasLogs(bytes: Uint8Array): boolean {
  let isLog = false;
  const item: Message = {
    1: (_, pbf) => {
      isLog ||= pbf.type === FIXED64;
    },
    11: (_, pbf) => {
      isLog ||= pbf.type === FIXED64;
    },
  };
  message(new PbfReader(bytes), request('a', 'b', 'c', item), bytes.length, 0);
  return isLog;
}
