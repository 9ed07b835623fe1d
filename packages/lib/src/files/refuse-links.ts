import { lstatSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { UserError } from '../problems/user-error.ts';

/** Folders of a repository, in which a pull request can commit links. */
const shared = new Set<string>();

/** Refuses writes through links in this folder from now on. */
export const refuseLinksIn = (folder: string): void => void shared.add(resolve(folder));

/**
 * Throws if a path leads through a symbolic link in a shared folder, because the author of the link
 * would choose which file is overwritten. Every writer calls this before opening a file.
 */
export function refuseLinks(path: string): void {
  const target = resolve(path);
  for (const folder of shared) {
    const way = relative(folder, target);
    if (way === '' || way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) continue;
    let at = folder;
    for (const part of way.split(sep)) {
      at = join(at, part);
      if (isLink(at))
        throw new UserError(
          'WRITE_LINK',
          `${at} is a link, and nothing in ${folder} is written through links`,
          { hint: 'Put a file or a folder in its place, or name the place it leads to.' },
        );
    }
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
