import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/**
 * The program that a command would start: a path as given, a plain name from the PATH. Undefined if
 * not found.
 */
export function findProgram(
  program: string,
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): string | undefined {
  const endings = ['', ...(env.PATHEXT ?? '').split(';').filter(Boolean)];
  const folders = /[\\/]/.test(program)
    ? [resolve(cwd)]
    : (env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders
    .flatMap((dir) => endings.map((ending) => resolve(dir, `${program}${ending}`)))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
