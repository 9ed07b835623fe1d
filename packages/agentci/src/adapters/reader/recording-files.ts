import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { UserError } from '../../kit/user-error.ts';

const RECORDING = /\.(?:json|jsonl|ndjson|gz)$/i;

/** The recordings a path names: the file itself, or those in a folder and below it, in the order of their names. */
export async function recordingFiles(path: string, onSkipped?: (path: string) => void): Promise<string[]> {
  const info = await stat(path).catch((cause: unknown) => {
    throw new UserError('TRACE_NOT_FOUND', `cannot read traces from "${path}"`, {
      hint: 'give a file or a folder of .json, .jsonl, .ndjson or .gz recordings',
      cause,
    });
  });
  if (!info.isDirectory()) return [path];
  const files: string[] = [];
  const root = await realpath(path);
  await walk({ folder: path, root, seen: new Set([root]), files, onSkipped });
  if (files.length > 0) return files;
  throw new UserError('TRACE_NO_RECORDINGS', `the folder "${path}" holds no recordings`, {
    hint: 'recordings end in .json, .jsonl, .ndjson or .gz; hidden files are left out',
  });
}

interface Walk {
  readonly folder: string;
  readonly root: string;
  readonly seen: Set<string>;
  readonly files: string[];
  /** Told of everything that is there and not read: a file left out must not look like one that passed. */
  readonly onSkipped: ((path: string) => void) | undefined;
}

async function walk(options: Walk): Promise<void> {
  const { folder, root, seen, files, onSkipped } = options;
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new UserError('TRACE_NOT_FOUND', `cannot read the folder "${folder}"`, { cause });
  });
  entries.sort((a, b) => Number(a.name > b.name) - Number(a.name < b.name));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const kind = entry.isSymbolicLink() ? await linkKind(path, root) : entry;
    if (entry.name.startsWith('.') || kind === undefined) {
      onSkipped?.(path);
      continue;
    }
    if (kind.isFile()) {
      if (RECORDING.test(basename(path))) files.push(path);
      else onSkipped?.(path);
    } else if (kind.isDirectory()) {
      const real = await realpath(path);
      if (seen.has(real)) continue;
      seen.add(real);
      await walk({ ...options, folder: path });
    }
  }
}

/** What a link points to, unless it is broken or leads out of the folder. */
async function linkKind(
  path: string,
  root: string,
): Promise<{ isFile(): boolean; isDirectory(): boolean } | undefined> {
  try {
    const target = await realpath(path);
    return target.startsWith(root.endsWith(sep) ? root : root + sep) ? await stat(target) : undefined;
  } catch {
    return undefined;
  }
}
