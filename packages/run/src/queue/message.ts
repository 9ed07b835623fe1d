import { gunzipSync, gzipSync } from 'node:zlib';

/** Shorter texts are not compressed. */
const SMALL = 4096;
/** Limits what a compressed message can expand to. */
const MAX_BYTES = 256 * 1024 * 1024;
const PLAIN = 'p';
const GZIP = 'z';

/** A message from a worker to the collector. */
export interface Message {
  /** Pass it to `forget` once the message is on disk. */
  readonly id: string;
  readonly kind: 'result' | 'duplicate' | 'note';
  readonly job: string;
  /** Known cost of the agent. */
  readonly costUsd: number;
  /**
   * Decodes the content. Undefined if it is unreadable. Called for one message at a time, to bound
   * memory.
   */
  readonly body: () => unknown;
}

export function encodeBody(value: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(value));
  if (text.length < SMALL) return Buffer.concat([Buffer.from(PLAIN), text]);
  if (text.length > MAX_BYTES)
    throw new RangeError(`a result of ${text.length} bytes is too large for the queue`);
  return Buffer.concat([Buffer.from(GZIP), gzipSync(text, { level: 1 })]);
}

export function decodeBody(bytes: Buffer): unknown {
  const kind = bytes.toString('latin1', 0, 1);
  const body = bytes.subarray(1);
  try {
    if (kind === PLAIN) return JSON.parse(body.toString('utf8'));
    if (kind === GZIP)
      return JSON.parse(gunzipSync(body, { maxOutputLength: MAX_BYTES }).toString('utf8'));
  } catch {
    // Truncated, or not JSON.
  }
  return undefined;
}

/** Reads an entry of the stream of results. */
export function readMessage(id: string, fields: readonly Buffer[]): Message {
  const values = new Map<string, Buffer>();
  for (let i = 0; i + 1 < fields.length; i += 2)
    values.set(fields[i]!.toString('latin1'), fields[i + 1]!);
  const kind = values.get('kind')?.toString();
  const costUsd = Number(values.get('cost')?.toString());
  return {
    id,
    kind: kind === 'result' || kind === 'duplicate' ? kind : 'note',
    job: values.get('job')?.toString() ?? '',
    costUsd: Number.isFinite(costUsd) && costUsd > 0 ? costUsd : 0,
    body: () => decodeBody(values.get('data') ?? Buffer.alloc(0)),
  };
}
