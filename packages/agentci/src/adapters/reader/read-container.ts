import type { AdapterItem } from '../adapter.ts';
import type { Container } from '../containers/sniff.ts';
import { MAX_CONTAINER_BYTES } from '../containers/unpacked.ts';
import type { RecordReader } from './record-reader.ts';

/** Reads a file that is packed: whole, up to a bound, since its parts must be seen together. */
export async function readContainer(options: {
  readonly container: Container;
  readonly first: Uint8Array;
  readonly rest: AsyncIterable<Uint8Array>;
  readonly reader: RecordReader;
  readonly signal: AbortSignal | undefined;
}): Promise<AdapterItem[]> {
  const { container, first, rest, reader, signal } = options;
  const { unpack } = await import('../containers/unpack.ts');
  const chunks = [first];
  let size = first.length;
  for await (const chunk of rest) {
    signal?.throwIfAborted();
    size += chunk.length;
    if (size > MAX_CONTAINER_BYTES) {
      const message = `the file has more than ${MAX_CONTAINER_BYTES} bytes and cannot be read in pieces`;
      return [reader.problem({ code: 'TRACE_TOO_LARGE', message })];
    }
    chunks.push(chunk);
  }
  const { records, format, problems } = unpack(container, Buffer.concat(chunks));
  const items = (problems ?? []).map((problem) => reader.problem(problem));
  if (format !== undefined) await reader.choose(format);
  const found = records.map(({ value, line }, i) => ({ ok: true as const, value, line: line ?? 1, index: i + 1 }));
  // A recorder of HTTP writes down whatever was sent: calls of models are among it.
  if (container === 'cassette' || container === 'har' || container === 'httprr')
    return [...items, ...(await reader.readRequests(found))];
  return [...items, ...(await reader.push(found))];
}
