import { lstatSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { UserError } from '../problems/user-error.ts';

/** Folders of a repository, in which a pull request can commit links. */
const shared = new Set<string>();

/** Refuses writes through links in this folder from now on. */
export function refuseLinksIn(folder: string): void {
  const path = resolve(folder);
  // Everyone may put links into the system's temporary folder, so it is not a checkout.
  if (path !== resolve(tmpdir()) && path !== dirname(path)) shared.add(path);
}

/**
 * Throws if a path leads through a symbolic link in a shared folder, because the author of the link
 * would choose which file is overwritten. Every writer calls this before opening a file.
 */
export function refuseLinks(path: string): void {
  if (shared.size === 0) return;
  const target = resolve(path);
  let links: string[] = [];
  for (let at = target; ; at = dirname(at)) {
    if (shared.has(at)) {
      if (links.length > 0)
        throw new UserError(
          'WRITE_LINK',
          `${links.at(-1)} is a link, and nothing in ${at} is written through links`,
          { hint: 'Put a file or a folder in its place, or name the place it leads to.' },
        );
      links = [];
    }
    if (at === dirname(at)) return;
    if (isLink(at)) links.push(at);
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
