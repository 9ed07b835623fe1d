import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { type Fields, isFields } from '@agentci/trace';
import type { RawRecord } from '../../adapter.ts';
import { fields, number, parseJson } from '../../build/values.ts';
import { bodyOfBytes } from '../../containers/http-body.ts';

export const EXCHANGE_SCHEMA = 'agentci.exchange/1';

/** Bytes in JSON: text if possible, else Base64. Bytes in memory. */
export type Bytes = string | { readonly b64: string } | Buffer;

/** One line of `exchanges.jsonl`: a raw model request and its response. */
export interface ExchangeRecord {
  readonly schema: typeof EXCHANGE_SCHEMA;
  /** Its run, because one file may have several. */
  readonly run: string;
  readonly i: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly provider: string;
  readonly route: string;
  readonly method: string;
  readonly uri: string;
  readonly request: Bytes;
  readonly request_encoding?: string;
  readonly response?: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    /** Chunks, with milliseconds since `at`. */
    readonly chunks: readonly (readonly [dtMs: number, bytes: Bytes])[];
  };
  readonly ttfb_ms?: number;
  readonly end_ms: number;
  readonly complete: boolean;
  /** `client_abort`, `upstream_reset`, `too_large`, `timeout`. */
  readonly why?: string;
  /** Why there was no response. */
  readonly error?: string;
  readonly asked_usage?: boolean;
  readonly served?: string;
  /** Its number in the recording, if answered from one. */
  readonly recorded_i?: number;
}

export const isExchange = (value: unknown): value is ExchangeRecord =>
  isFields(value) &&
  value.schema === EXCHANGE_SCHEMA &&
  typeof value.run === 'string' &&
  typeof value.provider === 'string' &&
  typeof value.route === 'string' &&
  typeof value.method === 'string' &&
  typeof value.uri === 'string' &&
  Number.isFinite(value.i) &&
  Number.isFinite(value.at) &&
  Number.isFinite(value.end_ms) &&
  isTextOrAbsent(value.why) &&
  isTextOrAbsent(value.error) &&
  isTextOrAbsent(value.served) &&
  (value.recorded_i === undefined || Number.isFinite(value.recorded_i)) &&
  (value.ttfb_ms === undefined || Number.isFinite(value.ttfb_ms)) &&
  typeof value.complete === 'boolean' &&
  (value.response === undefined ||
    (isFields(value.response) && Number.isFinite(value.response.status)));

const isTextOrAbsent = (value: unknown): boolean =>
  value === undefined || typeof value === 'string';

/** Text if it round-trips, else Base64. */
export function bytesToJson(bytes: Buffer): Bytes {
  const text = bytes.toString('utf8');
  return Buffer.byteLength(text) === bytes.length && !text.includes('\uFFFD')
    ? text
    : { b64: bytes.toString('base64') };
}

export const bytesOf = (value: unknown): Buffer => {
  if (Buffer.isBuffer(value)) return value;
  if (typeof value === 'string') return Buffer.from(value, 'utf8');
  return Buffer.from(isFields(value) && typeof value.b64 === 'string' ? value.b64 : '', 'base64');
};

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Decompresses a body. Returns it unchanged if the encoding is unknown or broken. */
export function unpacked(bytes: Buffer, encoding: unknown): Buffer {
  const limit = { maxOutputLength: MAX_BODY_BYTES };
  try {
    if (encoding === 'gzip' || encoding === 'x-gzip') return gunzipSync(bytes, limit);
    if (encoding === 'deflate') return inflateSync(bytes, limit);
    return encoding === 'br' ? brotliDecompressSync(bytes, limit) : bytes;
  } catch {
    return bytes;
  }
}

/** The exchange as a request with its response, for the wire formats. */
export function pairRecord(record: RawRecord): RawRecord & { readonly value: Fields } {
  const value = fields(record.value);
  const response = fields(value.response);
  const chunks = Array.isArray(response.chunks) ? response.chunks : [];
  const pieces = chunks.map((chunk: unknown) =>
    bytesOf(Array.isArray(chunk) ? chunk[1] : undefined),
  );
  const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  const request = unpacked(bytesOf(value.request), value.request_encoding).toString('utf8');
  const body = unpacked(bytes, fields(response.headers)['content-encoding']);
  return {
    ...record,
    value: {
      method: value.method,
      uri: value.uri,
      request: parseJson(request) ?? request,
      status: number(response.status),
      response: bodyOfBytes(body),
    },
  };
}
