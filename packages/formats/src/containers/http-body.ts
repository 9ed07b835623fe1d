import { gunzipSync } from 'node:zlib';
import { parseJson } from '../build/values.ts';
import { eventStreamIn, isEventStream } from './aws-event-stream.ts';
import { isGzip } from './sniff.ts';

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Decodes a recorded body: JSON, AWS binary events, or text. */
export function bodyOfBytes(bytes: Buffer): unknown {
  const plain = unzipped(bytes);
  if (plain === undefined) return '';
  if (isEventStream(plain)) return eventStreamIn(plain);
  return bodyOfText(plain.toString('utf8'));
}

/** Decodes a body stored as text, which may be a binary stream that happens to be valid text. */
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
