import { appendFileSync, copyFileSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { refuseLinks } from './refuse-links.ts';

/** Opens a file. Refuses to open one for writing through a link of a shared folder. */
export function openFile(path: string, flags: string | number, mode?: number): number {
  if (flags !== 'r') refuseLinks(path);
  return openSync(path, flags, mode);
}

export function writeFile(
  path: string,
  content: string | Uint8Array,
  options: { readonly mode?: number } = {},
): void {
  refuseLinks(path);
  writeFileSync(path, content, options);
}

export function appendFile(path: string, text: string): void {
  refuseLinks(path);
  appendFileSync(path, text);
}

/**
 * Renames a file. The rename replaces a link instead of following it, so only links among the
 * parent folders matter.
 */
export function renameFile(from: string, to: string): void {
  refuseLinks(to);
  renameSync(from, to);
}

export function copyFile(from: string, to: string): void {
  refuseLinks(to);
  copyFileSync(from, to);
}
