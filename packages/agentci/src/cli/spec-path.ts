import { isAbsolute, relative, resolve, sep } from 'node:path';

/** One name for one file, however it was typed: relative to the working folder, with forward slashes. */
export function specPath(given: string, cwd: string): string {
  const path = relative(cwd, resolve(cwd, given)) || '.';
  return path.startsWith('..') && isAbsolute(given) ? given : path.split(sep).join('/');
}
