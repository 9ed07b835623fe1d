import { readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import type { Io } from '../cli/io.ts';

export interface Given {
  readonly dirs: readonly string[];
  /** Folders unpacked from zip files, with the names to show. */
  readonly unpacked: ReadonlyMap<string, string>;
  /** Unreadable inputs. */
  readonly unreadable: readonly UserError[];
  /** Replaces temporary folder names by their zip files. */
  readonly withShownNames: (text: string) => string;
}

/**
 * Returns folders unchanged and unpacks zip files, the artifact format of CI systems. A damaged zip
 * file counts as a missing shard.
 */
export async function unpackZips(given: readonly string[], io: Io): Promise<Given> {
  const { isZip, unpackZip } = await import('./unpack-zip.ts');
  const unpacked = new Map<string, string>();
  const unreadable: UserError[] = [];
  const unpack = (zip: string, shown: string): string[] => {
    try {
      if (!isZip(zip))
        throw new UserError('MERGE_NO_SHARD', `${shown} is neither a folder nor a zip file`);
      const dir = unpackZip(zip, shown);
      unpacked.set(dir, shown);
      return [dir];
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      unreadable.push(error);
      return [];
    }
  };
  const dirs = given.flatMap((shown): string[] => {
    const path = resolve(io.cwd, shown);
    const facts = statSync(path, { throwIfNoEntry: false });
    if (facts === undefined) return [path];
    if (!facts.isDirectory()) return unpack(path, shown);
    const zips = zipsIn(path);
    // A folder with only zip files has no shard itself.
    const own = zips.length === 0 || hasFolders(path) ? [path] : [];
    return [...own, ...zips.flatMap((zip) => unpack(zip, join(shown, basename(zip))))];
  });
  const withShownNames = (text: string): string =>
    [...unpacked].reduce((done, [dir, zip]) => done.replaceAll(dir, zip), text);
  return { dirs, unpacked, unreadable, withShownNames };
}

const zipsIn = (dir: string): string[] =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.zip'))
    .sort()
    .map((name) => join(dir, name));

const hasFolders = (dir: string): boolean =>
  readdirSync(dir).some(
    (name) => statSync(join(dir, name), { throwIfNoEntry: false })?.isDirectory() === true,
  );
