import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { refuseLinks } from './refuse-links.ts';

/**
 * Creates a folder and its missing parents. Node's recursive `mkdir` never ends if the system
 * denies that a folder exists although its parent does, as below `/proc`.
 */
export function makeFolder(path: string, { mode }: { readonly mode?: number } = {}): void {
  refuseLinks(path);
  const above = dirname(path);
  if (above !== path && !existsSync(above)) makeFolder(above, mode === undefined ? {} : { mode });
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have created it. If a file has its name, later writes report that.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
