import { gunzipSync, gzipSync } from 'node:zlib';

/** Of fewer characters than this, packing costs more than it saves. */
const SMALL = 4096;
/** Nothing an agent did is larger; what claims to be is not unpacked. */
const MAX_BYTES = 256 * 1024 * 1024;
const PLAIN = 0x70;
const PACKED = 0x7a;

/** A value as it travels. */
export function packParcel(value: unknown): Buffer {
  const json = JSON.stringify(value);
  if (json.length < SMALL) return Buffer.from(`${String.fromCharCode(PLAIN)}${json}`);
  const text = Buffer.from(json);
  if (text.length > MAX_BYTES)
    throw new RangeError(`a result of ${text.length} bytes is too large for the queue`);
  return Buffer.concat([Buffer.of(PACKED), gzipSync(text, { level: 1 })]);
}

/** What a parcel holds; undefined where it is none of ours. */
export function unpackParcel(bytes: Buffer): unknown {
  const body = bytes.subarray(1);
  try {
    if (bytes[0] === PLAIN) return JSON.parse(body.toString('utf8'));
    if (bytes[0] === PACKED)
      return JSON.parse(gunzipSync(body, { maxOutputLength: MAX_BYTES }).toString('utf8'));
  } catch {
    // Cut off, or not JSON: not ours.
  }
  return undefined;
}
