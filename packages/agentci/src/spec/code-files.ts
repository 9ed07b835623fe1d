import { resolve } from 'node:path';
import { present } from '../kit/list.ts';
import type { Problem } from '../kit/problem.ts';
import type { CodeItem } from '../layers/every/code.ts';
import { existingPath, isInside } from './include.ts';

/** Whether the modules of `code` are there and below the folder of the spec. Nothing of them is loaded. */
export function codeFileIssues(
  written: CodeItem | readonly CodeItem[],
  dir: string,
): readonly Problem[] {
  const items: readonly CodeItem[] = Array.isArray(written) ? written : [written as CodeItem];
  return items.flatMap((item, i) => {
    let module: string | undefined;
    if (typeof item === 'string') module = item;
    else if ('module' in item) module = item.module;
    else module = undefined;
    if (module === undefined) return [];
    const path = present([
      Array.isArray(written) ? i : undefined,
      typeof item === 'string' ? undefined : 'module',
    ]);
    const problem = fileProblem(codePlace(module).file, dir);
    return problem === undefined ? [] : [{ ...problem, path }];
  });
}

/** `./checks/tone.ts#isPolite`: the file, and the name of the export. */
export function codePlace(module: string): { readonly file: string; readonly exportName: string } {
  const at = module.lastIndexOf('#');
  return at <= 0
    ? { file: module, exportName: 'default' }
    : { file: module.slice(0, at), exportName: module.slice(at + 1) || 'default' };
}

function fileProblem(file: string, dir: string): Problem | undefined {
  const folder = existingPath(dir) ?? resolve(dir);
  const wanted = resolve(folder, file);
  const real = isInside(folder, wanted) ? existingPath(wanted) : wanted;
  if (real === undefined)
    return {
      code: 'SPEC_FILE_MISSING',
      message: `code: there is no file "${file}"`,
      hint: 'the path starts at the folder of the spec; the name of an export comes after #',
    };
  if (isInside(folder, real)) return undefined;
  const message = `code: the file "${file}" lies outside the folder of the spec`;
  return { code: 'SPEC_FILE_OUTSIDE', message, hint: 'move the file below the spec' };
}
