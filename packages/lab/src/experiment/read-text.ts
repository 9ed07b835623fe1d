import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';

const MAX_BYTES = 64 * 1024 * 1024;

/** Reads a file named by the user. Errors use the user's path. */
export function readText(
  file: string,
  { dir, what }: { readonly dir: string; readonly what: string },
): string {
  const path = resolve(dir, file);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new UserError('FILE_MISSING', `${what}: no file "${file}"`);
  if (!found.isFile()) throw new UserError('FILE_UNREADABLE', `${what}: "${file}" is not a file`);
  if (found.size > MAX_BYTES)
    throw new UserError('FILE_TOO_LARGE', `${what}: "${file}" is larger than 64 MB`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (cause) {
    throw new UserError('FILE_UNREADABLE', `${what}: "${file}" cannot be read as UTF-8 text`, {
      cause,
    });
  }
}
