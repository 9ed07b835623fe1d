import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { UserError } from '../kit/user-error.ts';
import { makeFolder } from '../mcp/make-folder.ts';

const MAX_ZIP_BYTES = 512 * 1024 * 1024;
const MAX_UNPACKED_BYTES = 1024 * 1024 * 1024;
const MAX_FILES = 100_000;

/** Whether a path is a zip file, as CI systems hand out artifacts. */
export function isZip(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const fd = openSync(path, 'r');
  try {
    const start = Buffer.alloc(4);
    return readSync(fd, start, 0, 4, 0) === 4 && start.toString('latin1').startsWith('PK\u0003\u0004');
  } finally {
    closeSync(fd);
  }
}

/** Unpacks an artifact into a folder of its own under the system's temporary one. Whoever calls it removes the folder. */
export function unpackZip(path: string, shown: string): string {
  if (statSync(path).size > MAX_ZIP_BYTES) throw notUnpacked(shown, 'it is too large');
  const files = unzipped(path, shown);
  const dir = mkdtempSync(join(tmpdir(), 'agentci-zip-'));
  try {
    for (const [name, bytes] of Object.entries(files)) {
      if (name.endsWith('/')) continue;
      const file = join(dir, name);
      makeFolder(dirname(file));
      writeFileSync(file, bytes);
    }
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw notUnpacked(shown, (error as Error).message);
  }
  return dir;
}

/** Sizes are bounded by what the zip file says of them before anything is unpacked; what is longer than it says is an error. */
function unzipped(path: string, shown: string): Record<string, Uint8Array> {
  let total = 0;
  let count = 0;
  let why: string | undefined;
  try {
    const files = unzipSync(readFileSync(path), {
      filter: ({ name, originalSize }) => {
        total += originalSize;
        if (total > MAX_UNPACKED_BYTES || ++count > MAX_FILES) why ??= 'it unpacks to more than can be read';
        if (!isInside(name)) why ??= `${JSON.stringify(name)} would be written outside its folder`;
        return why === undefined;
      },
    });
    if (why === undefined) return files;
  } catch {
    why ??= 'it is damaged';
  }
  throw notUnpacked(shown, why);
}

const isInside = (name: string): boolean =>
  name !== '' && !/[\\:\0]/.test(name) && !name.startsWith('/') && !name.split('/').includes('..');

const notUnpacked = (shown: string, why: string): UserError =>
  new UserError('ZIP_UNREADABLE', `${shown} cannot be unpacked: ${why}`, {
    hint: 'Unpack it yourself, and give the folder.',
  });
