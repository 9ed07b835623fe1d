import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a whole file or nothing: to a temporary name, synced, then renamed over the target. */
export function writeFileAtomic(path: string, content: string | Iterable<string>): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  const fd = openSync(temporary, 'w');
  try {
    for (const piece of typeof content === 'string' ? [content] : batches(content)) writeText(fd, piece);
    fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    rmSync(temporary, { force: true });
    throw error;
  }
  closeSync(fd);
  renameSync(temporary, path);
}

const BATCH_CHARACTERS = 256 * 1024;

/** Joins small pieces: a system call for every line would cost more than the line. */
function* batches(pieces: Iterable<string>): Generator<string> {
  let batch = '';
  for (const piece of pieces) {
    batch += piece;
    if (batch.length < BATCH_CHARACTERS) continue;
    yield batch;
    batch = '';
  }
  yield batch;
}

/** Writes all of a text, however many writes the system takes for it. */
export function writeText(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}
