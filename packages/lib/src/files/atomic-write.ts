import {
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { refuseLinks } from './refuse-links.ts';
import { TextFile } from './text-file.ts';

/** A text, or pieces of it, some as bytes. */
type Content = string | Iterable<string | Uint8Array>;

/**
 * Writes a whole file or nothing: to a temporary name, synced, then renamed over the target. What can be made again, such
 * as a report, need not wait for the disk. A link outside of a repository stays a link: the file it points to is replaced. A pipe
 * or a device, such as `/dev/stdout`, is written to as it is: renaming over it would put a file in its place.
 */
export function writeFileAtomic(
  path: string,
  content: Content,
  { isSynced = true, mode }: { readonly isSynced?: boolean; readonly mode?: number } = {},
): void {
  refuseLinks(path);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) {
    writeContent(path, content, { isSynced: false });
    return;
  }
  makeFolder(dirname(path));
  const target = found === undefined ? path : realpathSync(path);
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    writeContent(temporary, content, { isSynced, mode });
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function writeContent(
  path: string,
  content: Content,
  { isSynced, mode }: { isSynced: boolean; mode?: number | undefined },
): void {
  const fd = openSync(path, 'w', mode);
  try {
    const file = new TextFile(fd);
    for (const piece of typeof content === 'string' ? [content] : content) {
      if (typeof piece === 'string') file.append(piece);
      else file.appendBytes(piece);
    }
    file.flush();
    if (isSynced) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
