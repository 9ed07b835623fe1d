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

/** A text, or pieces of text and bytes. */
type Content = string | Iterable<string | Uint8Array>;

/**
 * Writes a file atomically: to a temporary name, synced, then renamed. Reproducible files, such as
 * reports, need no sync. Outside of a repository, a link is kept and its target replaced. Pipes and
 * devices such as `/dev/stdout` are written directly, because a rename would replace them.
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
