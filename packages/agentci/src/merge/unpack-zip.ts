import { closeSync, readFileSync, readSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import {
  makeFolder,
  makeTemporaryFolder,
  openFile,
  removeTemporaryFolder,
  writeFile,
} from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { unzipSync } from 'fflate';

const MAX_ZIP_BYTES = 512 * 1024 * 1024;
const MAX_UNPACKED_BYTES = 1024 * 1024 * 1024;
const MAX_FILES = 100_000;

/** Whether a path is a zip file, the artifact format of CI systems. */
export function isZip(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const fd = openFile(path, 'r');
  try {
    const start = Buffer.alloc(4);
    return (
      readSync(fd, start, 0, 4, 0) === 4 && start.toString('latin1').startsWith('PK\u0003\u0004')
    );
  } finally {
    closeSync(fd);
  }
}

/** Unpacks an artifact into a separate temporary folder, until `removeTemporaryFolder`. */
export function unpackZip(path: string, shown: string): string {
  if (statSync(path).size > MAX_ZIP_BYTES) throw notUnpacked(shown, 'it is too large');
  const files = unzipped(path, shown);
  const dir = makeTemporaryFolder('agentci-zip-');
  try {
    for (const [name, bytes] of Object.entries(files)) {
      if (name.endsWith('/')) continue;
      const file = join(dir, name);
      makeFolder(dirname(file));
      writeFile(file, bytes);
    }
  } catch (error) {
    removeTemporaryFolder(dir);
    throw notUnpacked(shown, (error as Error).message);
  }
  return dir;
}

/** Checks the declared sizes before unpacking. Data longer than declared is an error. */
function unzipped(path: string, shown: string): Record<string, Uint8Array> {
  let total = 0;
  let count = 0;
  let why: string | undefined;
  const names: string[] = [];
  try {
    const bytes = readFileSync(path);
    const files = unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        names.push(name);
        total += originalSize;
        if (total > MAX_UNPACKED_BYTES || ++count > MAX_FILES)
          why ??= 'it unpacks to more than can be read';
        if (!isInside(name)) why ??= `${JSON.stringify(name)} would be written outside its folder`;
        return why === undefined;
      },
    });
    if (why === undefined && isIntact(files, names, checksumsIn(bytes))) return files;
  } catch {
    // The check below reports it.
  }
  why ??= isEncrypted(path) ? 'it is encrypted' : 'it is damaged';
  throw notUnpacked(shown, why);
}

/** Reads the flag in the header of the first file. */
const isEncrypted = (path: string): boolean => {
  const head = readFileSync(path).subarray(0, 8);
  return head.toString('latin1', 0, 4) === 'PK\u0003\u0004' && (head.readUInt16LE(6) & 1) === 1;
};

/**
 * Corrupted bytes may still unpack to something else. Of two files with one name, the later one
 * counts.
 */
function isIntact(
  files: Readonly<Record<string, Uint8Array>>,
  names: readonly string[],
  checksums: readonly number[] | undefined,
): boolean {
  if (checksums === undefined) return true;
  const wanted = new Map(names.map((name, at) => [name, checksums[at]]));
  return Object.entries(files).every(([name, content]) => crc32(content) === wanted.get(name));
}

/**
 * The checksum of each file in directory order. Undefined for zip64, which has its directory
 * elsewhere.
 */
function checksumsIn(zip: Buffer): number[] | undefined {
  const end = zip.lastIndexOf('PK\u0005\u0006', undefined, 'latin1');
  const count = zip.readUInt16LE(end + 10);
  let at = zip.readUInt32LE(end + 16);
  if (count === 0xffff || at === 0xffff_ffff) return undefined;
  return Array.from({ length: count }, () => {
    const checksum = zip.readUInt32LE(at + 16);
    at += 46 + zip.readUInt16LE(at + 28) + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
    return checksum;
  });
}

const isInside = (name: string): boolean =>
  name !== '' && !/[\\:\0]/.test(name) && !name.startsWith('/') && !name.split('/').includes('..');

const notUnpacked = (shown: string, why: string): UserError =>
  new UserError('FILE_UNREADABLE', `${shown} cannot be unpacked: ${why}`, {
    hint: 'Unpack it yourself, and give the folder.',
  });
