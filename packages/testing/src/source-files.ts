import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './node.ts';

/** The sources of every package from the root of the workspace, without tests and generated files. */
export const sourceFiles = (): string[] =>
  readdirSync(join(ROOT, 'packages'))
    .map((name) => join('packages', name, 'src'))
    .filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
    )
    .filter((name) => /\.(?:m?ts|tsx)$/.test(name) && !/\.(?:test|gen)\.ts$/.test(name));
