import { isFields } from '@agentci/trace';
import { parseJson } from '../build/values.ts';

const PRELUDE = 12;
const CHECKSUM = 4;
const TEXT = 7;
const MAX_EVENTS = 1_000_000;
/** AWS allows 24 MB. The length that four letters make is far above. */
const MAX_EVENT_BYTES = 32 * 1024 * 1024;

/** Whether bytes start like AWS's stream of events: a length, and headers whose names begin with a colon. */
export function isEventStream(bytes: Uint8Array): boolean {
  if (bytes.length < PRELUDE + CHECKSUM) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [total, headers] = [view.getUint32(0), view.getUint32(4)];
  return (
    total >= PRELUDE + CHECKSUM &&
    total <= MAX_EVENT_BYTES &&
    headers > 2 &&
    headers <= total - PRELUDE - CHECKSUM &&
    bytes[PRELUDE + 1] === 0x3a
  );
}

/**
 * The events of an AWS stream, `{messageStop: {…}}`, named by the header as in the SDKs. A `chunk`
 * holds the model's payload and is unpacked. A truncated or damaged part is an event of that name.
 */
export function eventStreamIn(bytes: Uint8Array): unknown[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const events: unknown[] = [];
  for (let at = 0; at < bytes.length && events.length < MAX_EVENTS; ) {
    const total = at + PRELUDE <= bytes.length ? view.getUint32(at) : 0;
    if (total < PRELUDE + CHECKSUM || at + total > bytes.length) return [...events, { cutOff: {} }];
    const start = at + PRELUDE + view.getUint32(at + 4);
    const end = at + total - CHECKSUM;
    if (start > end) return [...events, { cutOff: {} }];
    const names = headersIn(bytes.subarray(at + PRELUDE, start));
    events.push(
      eventOf(
        names,
        Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'),
      ),
    );
    at += total;
  }
  return events;
}

function eventOf(headers: ReadonlyMap<string, string>, text: string): unknown {
  const payload = parseJson(text);
  const name = headers.get(':event-type') ?? headers.get(':exception-type') ?? 'event';
  if (name === 'chunk' && isFields(payload) && typeof payload.bytes === 'string')
    return parseJson(Buffer.from(payload.bytes, 'base64').toString('utf8')) ?? { damaged: {} };
  return { [name]: payload ?? {} };
}

/** Headers that are texts: a length and a name, a kind, a length and a value. */
function headersIn(bytes: Uint8Array): Map<string, string> {
  const headers = new Map<string, string>();
  const text = (from: number, to: number): string =>
    Buffer.from(bytes.subarray(from, to)).toString('utf8');
  for (let at = 0; at < bytes.length; ) {
    const name = at + 1 + bytes[at]!;
    if (name + 3 > bytes.length || bytes[name] !== TEXT) break;
    const end = name + 3 + bytes[name + 1]! * 256 + bytes[name + 2]!;
    headers.set(text(at + 1, name), text(name + 3, end));
    at = end;
  }
  return headers;
}
