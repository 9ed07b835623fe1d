import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';

const MAX_PROMPT_BYTES = 1024 * 1024;

/** A text without whitespace is a file name, except for a bare `{{query}}`. */
export const isPromptFile = (prompt: string): boolean =>
  !/\s/.test(prompt.trim().replace(/\{\{[^}]*\}\}/g, 'x')) &&
  !/^\{\{\s*query\s*\}\}$/.test(prompt.trim());

/** The text of a prompt file in the folder of the spec, or the reason for its absence. */
export function readPromptFile(
  path: string,
  dir: string,
): { readonly text: string } | { readonly why: string } {
  const file = resolve(dir, path);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true) return { why: 'does not exist' };
  const inside = relative(realpathSync(dir), realpathSync(file));
  if (inside.startsWith('..') || isAbsolute(inside))
    return { why: 'lies outside the folder of the spec' };
  if (found.size > MAX_PROMPT_BYTES) return { why: `is larger than ${MAX_PROMPT_BYTES} bytes` };
  return { text: readFileSync(file, 'utf8') };
}
