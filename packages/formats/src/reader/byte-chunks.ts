import { closeSync, readFileSync, readSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openFile } from '@agentci/lib/files';
import { isGzip } from '../containers/sniff.ts';

/** Small enough that a chunk's records die before the next garbage collection. */
const CHUNK_BYTES = 64 * 1024;

/** Bytes of a file or memory in chunks. Unpacks gzip, whatever the file name. */
export async function* byteChunks(source: string | Uint8Array): AsyncGenerator<Uint8Array> {
  const chunks = typeof source === 'string' ? fileChunks(source) : memoryChunks(source);
  const first = await chunks.next();
  if (first.done === true) return;
  if (!isGzip(first.value)) {
    yield first.value;
    yield* chunks;
    return;
  }
  // Lazy, because its modules take as long to load as a hundred recordings to read.
  const { unzipped } = await import('./gunzip-chunks.ts');
  yield* unzipped(first.value, chunks, CHUNK_BYTES);
}

/** Files are read here and now: the way through the thread pool takes longer than reading a chunk. */
async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) yield* pipeChunks(path);
  else if (found !== undefined && found.size > 0 && found.size <= CHUNK_BYTES)
    yield readFileSync(path);
  else yield* largeFileChunks(path);
}

async function* largeFileChunks(path: string): AsyncGenerator<Uint8Array> {
  const fd = openFile(path, 'r');
  try {
    for (;;) {
      // A fresh buffer, because records across a border still reference the last one.
      const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      const length = readSync(fd, buffer, 0, CHUNK_BYTES, null);
      if (length === 0) return;
      yield buffer.subarray(0, length);
      // A signal or a timer must get its turn.
      await nextTurn();
    }
  } finally {
    closeSync(fd);
  }
}

/** A pipe may keep its reader waiting, so it is read in the background. */
async function* pipeChunks(path: string): AsyncGenerator<Uint8Array> {
  const handle = await open(path, 'r');
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(
        Buffer.allocUnsafeSlow(CHUNK_BYTES),
        0,
        CHUNK_BYTES,
        null,
      );
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

async function* memoryChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}
