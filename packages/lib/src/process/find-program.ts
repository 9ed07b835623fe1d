import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/** Where a command would be started from: a path as it is, a bare name on the PATH. Undefined when it could not be. */
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
