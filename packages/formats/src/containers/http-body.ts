import { gunzipSync } from 'node:zlib';
import { parseJson } from '../build/values.ts';
import { eventStreamIn, isEventStream } from './aws-event-stream.ts';
import { isGzip } from './sniff.ts';

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** What the bytes of a recorded body hold: JSON, the events of AWS's binary streams, or text. */
export function bodyOfBytes(bytes: Buffer): unknown {
  const plain = unzipped(bytes);
  if (plain === undefined) return '';
  if (isEventStream(plain)) return eventStreamIn(plain);
  return bodyOfText(plain.toString('utf8'));
}

/** A body that was kept as text; binary streams that happen to be valid text come that way too. */
export function bodyOfText(text: string): unknown {
  if (text.startsWith('\0')) {
    const bytes = Buffer.from(text, 'utf8');
    if (isEventStream(bytes)) return eventStreamIn(bytes);
  }
  return parseJson(text) ?? text;
}

function unzipped(bytes: Buffer): Buffer | undefined {
  if (!isGzip(bytes)) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BODY_BYTES });
  } catch {
    return undefined;
  }
}
