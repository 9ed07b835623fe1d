import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { TextFile } from './text-file.ts';

/**
 * Writes a whole file or nothing: to a temporary name, synced, then renamed over the target. What can be made again, such
 * as a report, need not wait for the disk.
 */
export function writeFileAtomic(path: string, content: string | Iterable<string>, { isSynced = true } = {}): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  const fd = openSync(temporary, 'w');
  try {
    const file = new TextFile(fd);
    for (const piece of typeof content === 'string' ? [content] : content) file.append(piece);
    file.flush();
    if (isSynced) fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    rmSync(temporary, { force: true });
    throw error;
  }
  closeSync(fd);
  renameSync(temporary, path);
}
