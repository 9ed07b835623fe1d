import { open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { containerOf } from '../containers/sniff.ts';

/** Files that are recordings by their names. */
const RECORDING = /\.(?:jsonl?|ndjson|gz|traj|eval|har|pb|binpb|sse|responses|httprr|zip)$/i;
/**
 * Possible recordings: a cassette is YAML, and so is a spec next to it. Their first bytes decide.
 */
const MAYBE = /\.(?:ya?ml|txt|log)$/i;
/** Text files with one JSON object per line. */
const TEXT = /\.txt$/i;
const HEAD_BYTES = 4096;

/** Extensions that are read from a folder, for messages. */
export const RECORDING_NAMES =
  '.json, .jsonl, .ndjson, .gz, .traj, .eval, .har, .pb, .sse, .responses, .httprr, .zip, .txt with a stream and cassettes in .yaml';

/** The recordings a path names: the file itself, or those in a folder and below it, in the order of their names. */
export async function recordingFiles(
  path: string,
  onSkipped?: (path: string) => void,
): Promise<string[]> {
  const info = await stat(path).catch((cause: unknown) => {
    throw new UserError('TRACES_MISSING', `cannot read traces from "${path}"`, {
      hint: `give a file, or a folder of recordings (${RECORDING_NAMES})`,
      cause,
    });
  });
  if (!info.isDirectory()) return [path];
  const files: string[] = [];
  const root = await realpath(path);
  await walk({ folder: path, root, seen: new Set([root]), files, onSkipped });
  if (files.length > 0) return files;
  throw new UserError('TRACE_NO_RECORDINGS', `no recordings found in the folder "${path}"`, {
    hint: `these are read: ${RECORDING_NAMES}; hidden files are left out`,
  });
}

interface Walk {
  readonly folder: string;
  readonly root: string;
  readonly seen: Set<string>;
  readonly files: string[];
  /** Called for every skipped file, which must not look like one that passed. */
  readonly onSkipped: ((path: string) => void) | undefined;
}

async function walk(options: Walk): Promise<void> {
  const { folder, root, seen, files, onSkipped } = options;
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new UserError('TRACES_MISSING', `cannot read the folder "${folder}"`, { cause });
  });
  entries.sort((a, b) => Number(a.name > b.name) - Number(a.name < b.name));
  if (await isCapture(folder, entries)) {
    // A capture's traces have everything; its other files are raw data.
    if (entries.some(({ name }) => name === 'traces.jsonl'))
      files.push(join(folder, 'traces.jsonl'));
    return;
  }
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const kind = entry.isSymbolicLink() ? await linkKind(path, root) : entry;
    if (entry.name.startsWith('.') || kind === undefined) {
      onSkipped?.(path);
      continue;
    }
    if (kind.isFile()) {
      if (await isRecording(path)) files.push(path);
      else onSkipped?.(path);
    } else if (kind.isDirectory()) {
      const real = await realpath(path);
      if (seen.has(real)) continue;
      seen.add(real);
      await walk({ ...options, folder: path });
    }
  }
}

/** Whether a folder is from `agentci capture`. */
async function isCapture(
  folder: string,
  entries: readonly { readonly name: string }[],
): Promise<boolean> {
  if (!entries.some(({ name }) => name === 'capture.json')) return false;
  return (await headOf(join(folder, 'capture.json')))?.includes('"agentci.capture/1"') ?? false;
}

async function isRecording(path: string): Promise<boolean> {
  const name = basename(path);
  if (RECORDING.test(name)) return true;
  if (!MAYBE.test(name)) return false;
  const head = await headOf(path);
  // An inaccessible file is listed, and later reported as unreadable.
  return (
    head === undefined ||
    containerOf(head) !== undefined ||
    (TEXT.test(name) && startsWithObject(head))
  );
}

async function headOf(path: string): Promise<Buffer | undefined> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(HEAD_BYTES) });
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

const startsWithObject = (head: Uint8Array): boolean =>
  /^\s*\{\s*"[^"\n]{1,200}"\s*:/.test(Buffer.from(head).toString('latin1'));

/** The target of a link, unless it is broken or outside of the folder. */
async function linkKind(
  path: string,
  root: string,
): Promise<{ isFile(): boolean; isDirectory(): boolean } | undefined> {
  try {
    const target = await realpath(path);
    return target.startsWith(root.endsWith(sep) ? root : root + sep)
      ? await stat(target)
      : undefined;
  } catch {
    return undefined;
  }
}
