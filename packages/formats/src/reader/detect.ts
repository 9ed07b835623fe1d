import { gunzipSync, constants as zlib } from 'node:zlib';
import { JsonStream } from '@agentci/lib/json';
import type { Adapter } from '../adapter.ts';
import { containerOf, isGzip } from '../containers/sniff.ts';
import { unpack } from '../containers/unpack.ts';
import { ADAPTERS } from '../index.gen.ts';
import { type Detection, detectRecords } from './detect-records.ts';

export type { Detection } from './detect-records.ts';

const SAMPLE_RECORDS = 20;
const FLOOR = 0.5;
const SAMPLE_BYTES = 1024 * 1024;
const MAX_UNZIPPED = 64 * 1024 * 1024;

/** The format of bytes or text, from their start. Looks into containers. */
export function detectFormat(
  input: Uint8Array | string,
  adapters: readonly Adapter[] = ADAPTERS,
): Detection {
  const bytes = typeof input === 'string' ? Buffer.from(input) : unzipped(input);
  const container = containerOf(bytes);
  if (container === undefined) return detectRecords(sampleOf(bytes), adapters);
  const { records, format } = unpack(container, bytes);
  if (format !== undefined)
    return { format, confidence: 1, candidates: [{ format, confidence: 1 }] };
  // Only model calls count among recorded requests.
  const isRequests = container === 'cassette' || container === 'har';
  const own = isRequests
    ? records.filter(({ value }) => detectRecords([value], adapters).confidence >= FLOOR)
    : records;
  return detectRecords(
    own.slice(0, SAMPLE_RECORDS).map(({ value }) => value),
    adapters,
  );
}

function sampleOf(bytes: Uint8Array): unknown[] {
  const stream = new JsonStream({ unwrapKey: 'traces' });
  const sample: unknown[] = [];
  for (let at = 0; at < bytes.length && sample.length < SAMPLE_RECORDS; at += SAMPLE_BYTES) {
    for (const record of stream.push(bytes.subarray(at, at + SAMPLE_BYTES)))
      if (record.ok) sample.push(record.value);
  }
  if (sample.length < SAMPLE_RECORDS)
    for (const record of stream.end()) if (record.ok) sample.push(record.value);
  return sample.slice(0, SAMPLE_RECORDS);
}

/** A cut-off end is expected: someone may have read the beginning only. */
function unzipped(bytes: Uint8Array): Uint8Array {
  if (!isGzip(bytes)) return bytes;
  try {
    return gunzipSync(bytes, { finishFlush: zlib.Z_SYNC_FLUSH, maxOutputLength: MAX_UNZIPPED });
  } catch {
    return new Uint8Array();
  }
}
