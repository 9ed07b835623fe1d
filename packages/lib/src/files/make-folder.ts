import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { refuseLinks } from './refuse-links.ts';

/**
 * Makes a folder and those above it, where they are missing. Node's own way of doing so never ends where the system says that a
 * folder is not there though the one above it is, as it does below `/proc`.
 */
export function makeFolder(path: string, { mode }: { readonly mode?: number } = {}): void {
  refuseLinks(path);
  const above = dirname(path);
  if (above !== path && !existsSync(above)) makeFolder(above, mode === undefined ? {} : { mode });
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have been quicker. Where a file is in its place, whoever needs the folder is told.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
