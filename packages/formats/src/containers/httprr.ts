import { bodyOfBytes } from './http-body.ts';
import { nothingRecorded, type Unpacked, type UnpackedRecord } from './unpacked.ts';

const LENGTHS = /^(\d{1,12}) (\d{1,12})\r?\n/;
/** Headers are looked for no further than this. */
const MAX_HEAD = 64 * 1024;

/**
 * Traces of Go's `httprr`: after a first line, each exchange is a line with two lengths, then the
 * raw request and response. Headers are dropped.
 */
export function unpackHttprr(bytes: Uint8Array): Unpacked {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const records: UnpackedRecord[] = [];
  let at = all.indexOf('\n') + 1;
  while (at < all.length) {
    const lengths = LENGTHS.exec(all.subarray(at, at + 32).toString('latin1'));
    const [line = '', asked = '', answered = ''] = lengths ?? [];
    const start = at + line.length;
    const end = start + Number(asked) + Number(answered);
    if (lengths === null || end > all.length)
      return {
        records,
        problems: [
          { code: 'TRACE_DAMAGED', message: 'the httprr trace is damaged or cut off', line: 1 },
        ],
      };
    records.push(
      interaction(
        all.subarray(start, start + Number(asked)),
        all.subarray(start + Number(asked), end),
      ),
    );
    at = end;
  }
  return records.length === 0 ? nothingRecorded('httprr trace') : { records };
}

function interaction(asked: Buffer, answered: Buffer): UnpackedRecord {
  const request = splitMessage(asked);
  const response = splitMessage(answered);
  const [method, uri] = request.first.split(' ');
  return {
    value: {
      method,
      uri,
      request: bodyOfBytes(request.body),
      status: Number(response.first.split(' ')[1]),
      response: bodyOfBytes(response.body),
    },
  };
}

/** The first line of a message, and its body. */
function splitMessage(message: Buffer): { readonly first: string; readonly body: Buffer } {
  const head = message.subarray(0, MAX_HEAD).toString('latin1');
  const end = /\r?\n\r?\n/.exec(head);
  const first = head.slice(0, Math.max(0, head.search(/\r?\n/)));
  return {
    first,
    body: end === null ? Buffer.alloc(0) : message.subarray(end.index + end[0].length),
  };
}
