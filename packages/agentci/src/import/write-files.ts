import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { writeFileAtomic } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';

export interface WriteOptions {
  /** Base folder of relative paths. */
  readonly dir: string;
  /** Replaces existing files. */
  readonly overwrite?: boolean;
  /** Checks for conflicts and writes nothing. */
  readonly dryRun?: boolean;
  /** Paths to be written after these files. They must not exist either. */
  readonly others?: readonly string[];
}

/** Writes all files, or none if one of them exists. Returns their paths. */
export function writeFiles(files: ReadonlyMap<string, string>, options: WriteOptions): string[] {
  const { dir, overwrite = false, dryRun = false, others = [] } = options;
  const existing = [...files.keys(), ...others].filter((path) => existsSync(resolve(dir, path)));
  if (existing.length > 0 && !overwrite) {
    throw new UserError(
      'FILE_EXISTS',
      `${existing.join(', ')} exists already; nothing was written`,
      {
        hint: '--force writes over it.',
      },
    );
  }
  if (!dryRun) for (const [path, text] of files) writeFileAtomic(resolve(dir, path), text);
  return [...files.keys()];
}
