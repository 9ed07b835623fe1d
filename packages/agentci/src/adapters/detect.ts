import { gunzipSync, constants as zlib } from 'node:zlib';
import { JsonStream } from '../kit/json-stream.ts';
import type { Adapter } from './adapter.ts';
import { ADAPTERS } from './index.gen.ts';
import { unwrap } from './unwrap.ts';

/** Which format a recording is in. `candidates` has the ones that fit, best first; two of them mean it is ambiguous. */
export interface Detection {
  /** Undefined when no format fits. */
  readonly format: string | undefined;
  /** From 0, nothing fits, to 1, certain. */
  readonly confidence: number;
  /** The formats that are as good as the best; more than one is an answer the caller must not guess at. */
  readonly candidates: readonly { readonly format: string; readonly confidence: number }[];
}

const AMBIGUITY = 0.1;
const FLOOR = 0.5;
const SAMPLE_RECORDS = 20;
const SAMPLE_BYTES = 1024 * 1024;
const GZIP_BYTES = 16 * 1024;

/** The format of a recording's bytes or text, seen from its beginning. A gzip file is looked into. */
export function detectFormat(input: Uint8Array | string, adapters: readonly Adapter[] = ADAPTERS): Detection {
  const bytes = typeof input === 'string' ? Buffer.from(input) : unzipHead(input);
  const stream = new JsonStream({ unwrapKey: 'traces' });
  const sample: unknown[] = [];
  for (let at = 0; at < bytes.length && sample.length < SAMPLE_RECORDS; at += SAMPLE_BYTES) {
    for (const record of stream.push(bytes.subarray(at, at + SAMPLE_BYTES))) if (record.ok) sample.push(record.value);
  }
  if (sample.length < SAMPLE_RECORDS) for (const record of stream.end()) if (record.ok) sample.push(record.value);
  return detectRecords(sample.slice(0, SAMPLE_RECORDS), adapters);
}

/** The format of a few parsed records. */
export function detectRecords(sample: readonly unknown[], adapters: readonly Adapter[] = ADAPTERS): Detection {
  const values = sample.map((value) => unwrap(value).value);
  const ranked = adapters
    .map((adapter) => ({ format: adapter.format, confidence: adapter.detect(values) }))
    .filter(({ confidence }) => confidence > 0)
    .sort((a, b) => b.confidence - a.confidence);
  const best = ranked[0];
  if (best === undefined) return { format: undefined, confidence: 0, candidates: [] };
  const rivals = ranked.filter(({ confidence }) => confidence >= FLOOR && best.confidence - confidence <= AMBIGUITY);
  return { ...best, candidates: rivals.length === 0 ? [best] : rivals };
}

/** Two bytes start every gzip file, whatever its name. */
export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

function unzipHead(bytes: Uint8Array): Uint8Array {
  if (!isGzip(bytes)) return bytes;
  try {
    // A cut-off end is expected here, and so few bytes cannot unpack to much.
    return gunzipSync(bytes.subarray(0, GZIP_BYTES), { finishFlush: zlib.Z_SYNC_FLUSH });
  } catch {
    return new Uint8Array();
  }
}
