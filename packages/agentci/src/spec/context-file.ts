import { resolve } from 'node:path';
import { existingPath, isInside, readText } from './include.ts';

export type ContextFile =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly hint: string };

/** Reads the `context_file` of a rubric. Only files below the folder of the spec are read, links followed. */
export function readContextFile(path: string, dir: string): ContextFile {
  const folder = existingPath(dir) ?? resolve(dir);
  const wanted = resolve(folder, path);
  const real = isInside(folder, wanted) ? existingPath(wanted) : wanted;
  if (real === undefined) {
    const hint = 'the path starts at the folder of the spec';
    return {
      ok: false,
      code: 'SPEC_FILE_MISSING',
      message: `the context file "${path}" does not exist`,
      hint,
    };
  }
  if (!isInside(folder, real)) {
    const message = `the context file "${path}" lies outside the folder of the spec`;
    return { ok: false, code: 'SPEC_FILE_OUTSIDE', message, hint: 'move the file below the spec' };
  }
  const text = readText(real);
  if (text !== undefined && text.trim() !== '') return { ok: true, text };
  const message = `the context file "${path}" is ${text === undefined ? 'not UTF-8 text of at most 10 MB' : 'empty'}`;
  return {
    ok: false,
    code: 'SPEC_FILE_UNREADABLE',
    message,
    hint: 'the judge reads it as plain text',
  };
}
