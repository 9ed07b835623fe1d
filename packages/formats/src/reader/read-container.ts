import type { AdapterItem } from '../adapter.ts';
import type { Container } from '../containers/sniff.ts';
import { MAX_CONTAINER_BYTES } from '../containers/unpacked.ts';
import type { RecordReader } from './record-reader.ts';

/** A whole packed file, because its parts belong together. Undefined beyond the size limit. */
export async function gathered(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const chunks = [first];
  let size = first.length;
  for await (const chunk of rest) {
    signal?.throwIfAborted();
    size += chunk.length;
    if (size > MAX_CONTAINER_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads a file that is packed. */
export async function readContainer(options: {
  readonly container: Container;
  readonly bytes: Uint8Array | undefined;
  readonly reader: RecordReader;
}): Promise<AdapterItem[]> {
  const { container, bytes, reader } = options;
  if (bytes === undefined) {
    const message = `the file has more than ${MAX_CONTAINER_BYTES} bytes and cannot be read in pieces`;
    return [reader.problem({ code: 'TRACE_TOO_LARGE', message })];
  }
  const { unpack } = await import('../containers/unpack.ts');
  const { records, format, problems } = unpack(container, bytes);
  const items = (problems ?? []).map((problem) => reader.problem(problem));
  if (format !== undefined) await reader.choose(format);
  const found = records.map(({ value, line }, i) => ({
    ok: true as const,
    value,
    line: line ?? 1,
    index: i + 1,
  }));
  // A recorder of HTTP writes down whatever was sent: calls of models are among it.
  if (container === 'cassette' || container === 'har' || container === 'httprr')
    return [...items, ...(await reader.readRequests(found))];
  return [...items, ...(await reader.push(found))];
}
