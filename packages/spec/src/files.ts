import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { CodeItem } from '@agentci/checks';
import { present } from '@agentci/lib/data';
import type { Problem } from '@agentci/lib/problems';
import { MAX_YAML_SIZE } from '@agentci/lib/yaml';

/** File access of a spec reader: the disk, or an editor whose open texts override it. */
export interface SpecFiles {
  /** The path with links resolved. Undefined if it does not exist. */
  readonly realPath: (path: string) => string | undefined;
  /** Undefined for folders, devices, oversized files, and invalid UTF-8. */
  readonly readText: (path: string, maxBytes?: number) => string | undefined;
}

export const DISK: SpecFiles = {
  realPath: (path) => {
    try {
      return realpathSync(path);
    } catch {
      return undefined;
    }
  },
  readText: (path, maxBytes = MAX_YAML_SIZE) => {
    try {
      const stat = statSync(path);
      if (!stat.isFile() || stat.size > maxBytes) return undefined;
      return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    } catch {
      return undefined;
    }
  },
};

/** Whether a path is in a folder, or is the folder. Resolve links first, because this does not. */
export const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};

/**
 * The path of a file with links resolved. If the file is not on disk: its folder if that exists,
 * otherwise the path unchanged.
 */
export function realPath(file: string, files: SpecFiles = DISK): string {
  const path = resolve(file);
  const folder = dirname(path);
  return files.realPath(path) ?? join(files.realPath(folder) ?? folder, path.slice(folder.length));
}

export type FoundFile =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly isOutside: boolean };

/** The folder of a spec. Nothing outside of it is read, with links resolved. */
export class SpecFolder {
  /** With links resolved. */
  readonly path: string;
  readonly files: SpecFiles;

  constructor(dir: string, files: SpecFiles = DISK) {
    this.path = files.realPath(dir) ?? resolve(dir);
    this.files = files;
  }

  /** The folder of a spec that may not be on disk. */
  static of(specFile: string, files: SpecFiles = DISK): SpecFolder {
    return new SpecFolder(dirname(realPath(specFile, files)), files);
  }

  /** A file by its path relative to a folder. Default: the spec's folder. */
  find(path: string, from = this.path): FoundFile {
    const wanted = resolve(from, path);
    const real = isInside(this.path, wanted) ? this.files.realPath(wanted) : wanted;
    if (real === undefined) return { ok: false, isOutside: false };
    return isInside(this.path, real) ? { ok: true, path: real } : { ok: false, isOutside: true };
  }
}

export type ContextFile =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly hint: string };

/** Reads the `context_file` of a rubric, or the prompt of a model. */
export function readContextFile(path: string, folder: SpecFolder): ContextFile {
  const found = folder.find(path);
  if (!found.ok)
    return found.isOutside
      ? {
          ok: false,
          code: 'SPEC_FILE_OUTSIDE',
          message: `the context file "${path}" lies outside the folder of the spec`,
          hint: 'move the file below the spec',
        }
      : {
          ok: false,
          code: 'SPEC_FILE_MISSING',
          message: `the context file "${path}" does not exist`,
          hint: 'the path starts at the folder of the spec',
        };
  const text = folder.files.readText(found.path);
  if (text !== undefined && text.trim() !== '') return { ok: true, text };
  return {
    ok: false,
    code: 'SPEC_FILE_UNREADABLE',
    message: `the context file "${path}" is ${text === undefined ? 'not UTF-8 text of at most 10 MB' : 'empty'}`,
    hint: 'the judge reads it as plain text',
  };
}

/** Checks that the modules of `code` exist below the folder of the spec, without loading them. */
export function codeFileIssues(
  written: CodeItem | readonly CodeItem[],
  folder: SpecFolder,
): readonly Problem[] {
  const items: readonly CodeItem[] = Array.isArray(written) ? written : [written as CodeItem];
  return items.flatMap((item, i) => {
    const isText = typeof item === 'string';
    if (!isText && !('module' in item)) return [];
    const { file } = codePlace(isText ? item : item.module);
    const found = folder.find(file);
    if (found.ok) return [];
    const path = present([Array.isArray(written) ? i : undefined, isText ? undefined : 'module']);
    return found.isOutside
      ? [
          {
            code: 'SPEC_FILE_OUTSIDE',
            message: `code: the file "${file}" lies outside the folder of the spec`,
            hint: 'move the file below the spec',
            path,
          },
        ]
      : [
          {
            code: 'SPEC_FILE_MISSING',
            message: `code: there is no file "${file}"`,
            hint: 'the path is relative to the folder of the spec, with the name of an export after #',
            path,
          },
        ];
  });
}

/** `./checks/tone.ts#isPolite`: the file and the export. */
export function codePlace(module: string): { readonly file: string; readonly exportName: string } {
  const at = module.lastIndexOf('#');
  return at <= 0
    ? { file: module, exportName: 'default' }
    : { file: module.slice(0, at), exportName: module.slice(at + 1) || 'default' };
}
