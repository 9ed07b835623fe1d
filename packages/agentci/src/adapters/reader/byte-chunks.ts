import { readFileSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isGzip } from '../containers/sniff.ts';

/** Small enough that the records of one chunk are gone before the next collection of garbage. */
const CHUNK_BYTES = 64 * 1024;

/** The bytes of a file, or bytes already in memory, in chunks; gzip is unpacked, whatever the file's name. */
export async function* byteChunks(source: string | Uint8Array): AsyncGenerator<Uint8Array> {
  const chunks = typeof source === 'string' ? fileChunks(source) : memoryChunks(source);
  const first = await chunks.next();
  if (first.done === true) return;
  if (!isGzip(first.value)) {
    yield first.value;
    yield* chunks;
    return;
  }
  // Loaded for those who need it: the modules behind it take as long to load as a hundred recordings to read.
  const { unzipped } = await import('./gunzip-chunks.ts');
  yield* unzipped(first.value, chunks, CHUNK_BYTES);
}

/** The next chunk is on its way while the last one is worked on. */
async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  // A folder may have tens of thousands of small files, and the way through the thread pool takes longer than reading one.
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() && found.size > 0 && found.size <= CHUNK_BYTES) {
    yield readFileSync(path);
    return;
  }
  const handle = await open(path, 'r');
  let coming = readChunk(handle);
  try {
    for (;;) {
      const chunk = await coming;
      if (chunk.length === 0) return;
      coming = readChunk(handle);
      // The caller may not come back for it; if it does, it sees the error.
      coming.catch(() => undefined);
      yield chunk;
    }
  } finally {
    await coming.catch(() => undefined);
    await handle.close();
  }
}

async function readChunk(handle: FileHandle): Promise<Uint8Array> {
  // A fresh buffer each time: records that cross a border still point into the last one.
  const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(CHUNK_BYTES), 0, CHUNK_BYTES, null);
  return buffer.subarray(0, bytesRead);
}

async function* memoryChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}
