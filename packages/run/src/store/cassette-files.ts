import {
  closeSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { sha256Hex } from '@agentci/lib/data';
import { openFile, writeFileAtomic } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { cellKey } from '@agentci/results';

/** Identifies a run of a query of an agent. */
interface CassetteName {
  readonly agent: string;
  readonly id: string;
  readonly run: number;
  readonly cell?: Readonly<Record<string, string>> | undefined;
}

const SAFE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** Endings with a meaning in our names, and names reserved by some systems. */
const TAKEN = /\.(?:run|cell)-[^.]*$|\.$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
/** Larger files are not recordings of an agent. */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_HEAD_BYTES = 64 * 1024;
const BYTE_ORDER_MARK = '\ufeff';
/** A suite reads the heads of all its cassettes, one after the other. */
const HEAD = Buffer.allocUnsafe(MAX_HEAD_BYTES);

/**
 * A valid file name. Any other name becomes a slug with a short hash, so that each has a unique
 * file.
 */
function safeName(name: string, fallback: string): string {
  if (SAFE.test(name) && !TAKEN.test(name)) return name;
  const slug = name
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);
  return `${slug || fallback}-${sha256Hex(name).slice(0, 8)}`;
}

/** The file name of a run: `<query-id>[.cell-HASH][.run-K].jsonl`. Defined only here. */
export function cassetteFileName({ id, run, cell }: Omit<CassetteName, 'agent'>): string {
  const suffix = cell === undefined ? '' : `.cell-${sha256Hex(cellKey(cell)).slice(0, 8)}`;
  return `${safeName(id, 'query')}${suffix}${run === 1 ? '' : `.run-${run}`}.jsonl`;
}

/** The folder of an agent's cassettes. */
export const cassetteFolder = (dir: string, agent: string): string =>
  join(dir, safeName(agent, 'agent'));

export const cassettePath = (dir: string, name: CassetteName): string =>
  join(cassetteFolder(dir, name.agent), cassetteFileName(name));

/** The text of a cassette. Undefined if there is none. */
export function readCassetteFile(dir: string, path: string): string | undefined {
  const found = checkCassettePlace(dir, path);
  if (found === undefined) return undefined;
  if (found.size > MAX_BYTES) refuse(path, `is larger than ${MAX_BYTES / 1024 / 1024} MB`);
  // Invalid UTF-8 is read as U+FFFD.
  const text = readFileSync(path, 'utf8');
  if (text.includes('\uFFFD'))
    throw new UserError('CASSETTE_DAMAGED', `${path}: it is not UTF-8 text`, {
      hint: 'Restore the file from version control, or record it again with --cassette record.',
    });
  // Git may convert line ends, and editors add a byte order mark.
  const bare = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  return bare.includes('\r\n') ? bare.replaceAll('\r\n', '\n') : bare;
}

/** The file at the path of a cassette, if any. Refuses anything but a file in the folder. */
export function checkCassettePlace(dir: string, path: string): Stats | undefined {
  const entry = entryAt(path);
  if (entry === undefined) {
    stayInside(dir, path);
    return undefined;
  }
  const found = entry.isSymbolicLink() ? targetOf(path) : entry;
  if (!found.isFile()) refuse(path, 'is not a file');
  // The file itself has been checked.
  if (entry !== found || hasLinks(dir, dirname(path))) stayInside(dir, path);
  return found;
}

/** The target of a link. */
function targetOf(path: string): Stats {
  try {
    return (
      statSync(path, { throwIfNoEntry: false }) ??
      refuse(path, 'is a link to a file that does not exist')
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOOP') throw error;
    return refuse(path, 'is a link that leads to itself');
  }
}

/** The first line of a cassette, which identifies it. Undefined if there is none. */
export function readCassetteHead(path: string): string | undefined {
  let fd: number;
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    fd = openFile(path, 'r');
  } catch (error) {
    if (!existsSync(path)) return undefined;
    throw error;
  }
  try {
    const length = readSync(fd, HEAD, 0, MAX_HEAD_BYTES, 0);
    const end = HEAD.subarray(0, length).indexOf(0x0a);
    const head = end < 0 ? undefined : HEAD.toString('utf8', 0, end);
    return head?.startsWith(BYTE_ORDER_MARK) ? head.slice(1) : head;
  } finally {
    closeSync(fd);
  }
}

/** Replaces the whole file atomically. Returns a function that restores the previous one. */
export function writeCassetteFile(dir: string, path: string, text: string): () => void {
  needFolders(path);
  const before = checkCassettePlace(dir, path) === undefined ? undefined : readFileSync(path);
  writeFileAtomic(path, text);
  return () => {
    checkCassettePlace(dir, path);
    if (before === undefined) rmSync(path, { force: true });
    else writeFileAtomic(path, [before]);
  };
}

export function removeCassetteFile(dir: string, path: string): void {
  stayInside(dir, path);
  rmSync(path);
}

/** All cassettes below a folder, sorted, of one agent or of all. */
export function listCassetteFiles(dir: string, agent?: string): readonly string[] {
  needFolders(cassettePath(dir, { agent: agent ?? 'a', id: 'a', run: 1 }));
  if (agent !== undefined) return filesIn(cassetteFolder(dir, agent));
  if (!existsSync(dir)) return [];
  const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .map(({ name }) => join(dir, name))
    .sort()
    .flatMap(filesIn);
}

const filesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.jsonl'))
        .sort()
        .map((name) => join(folder, name))
    : [];

/**
 * The entry at the path of a cassette, which may be a link. If it exists, its parent folders do
 * too.
 */
function entryAt(path: string): Stats | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) needFolders(path);
    return found;
  } catch (error) {
    needFolders(path);
    throw error;
  }
}

/** Nothing can exist below a file. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return false;
  }
}

/** All existing parents of a cassette must be folders. */
function needFolders(path: string): void {
  for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
    if (!existsSync(above)) {
      if (isLink(above)) refuse(above, 'is a link to a folder that does not exist');
      continue;
    }
    if (!statSync(above).isDirectory())
      refuse(above, 'is a file, and cassettes need a folder there');
    return;
  }
}

/**
 * A link below the folder must not lead out of it, because a checkout could point anywhere on the
 * machine.
 */
function stayInside(dir: string, path: string): void {
  if (!hasLinks(dir, path)) return;
  let real = path;
  while (!existsSync(real) && real !== dirname(real)) real = dirname(real);
  if (!existsSync(dir)) return;
  // Native, because it needs one call instead of one for each parent folder.
  const inside = relative(realpathSync.native(dir), realpathSync.native(real));
  if (relative(resolve(dir), resolve(real)).startsWith('..')) return;
  if (inside === '..' || inside.startsWith(`..${sep}`) || resolve(inside) === inside)
    refuse(path, `leads out of ${dir} through a link`);
}

/**
 * Whether the path between the folder and the file contains a link. Usually it does not, and then
 * it stays inside.
 */
function hasLinks(dir: string, path: string): boolean {
  const top = resolve(dir);
  for (let at = resolve(path); at.length > top.length; at = dirname(at))
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true) return true;
  return false;
}

function refuse(path: string, what: string): never {
  throw new UserError('CASSETTE_PLACE', `${path} ${what}`, {
    hint: 'Cassettes are plain files in one folder for each agent. Name a folder with "cassette.dir" of the spec, or with --cassette record=DIR.',
  });
}
