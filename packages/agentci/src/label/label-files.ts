import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join, sep } from 'node:path';
import { type Label, LabelBook, type LabelProblem } from '@agentci/judge';
import { makeFolder, openFile } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';

const MAX_FILES = 1000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_NAME = 60;

/**
 * The file name of a rater. Every line contains the rater's full name, so two raters whose names
 * map to the same file can share it.
 */
export function fileNameOf(rater: string): string {
  const plain = rater
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}_-]+/gu, '-')
    .replace(/^-+|-+$/g, '');
  return `${[...plain].slice(0, MAX_NAME).join('') || 'rater'}.jsonl`;
}

/** Appends labels to a file in the labels folder. `append` returns after the label is on disk. */
export class LabelWriter {
  readonly #fd: number;
  /** Unconfirmed bytes that a killed program left. */
  readonly cutOff: number;

  constructor(folder: string, name: string) {
    const there = statSync(folder, { throwIfNoEntry: false });
    if (there !== undefined && !there.isDirectory())
      throw notOurs(folder, 'it is a file, not a folder');
    makeFolder(folder);
    if (lstatSync(folder).isSymbolicLink()) throw notOurs(folder, 'it is a link');
    const path = join(folder, name);
    const before = lstatSync(path, { throwIfNoEntry: false });
    if (before !== undefined && !before.isFile()) throw notOurs(path, 'it is a link or not a file');
    // NOFOLLOW, because someone may have created a link since. Windows has no such flag, and links
    // there need privileges.
    this.#fd = openFile(
      path,
      constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0),
      0o644,
    );
    if (!realpathSync(path).startsWith(realpathSync(folder) + sep))
      throw notOurs(path, 'it is outside the folder');
    this.cutOff = this.#repair();
    syncFolder(folder);
  }

  append(line: object): void {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    const { size } = fstatSync(this.#fd);
    // A single write, so that lines of two programs do not mix.
    const written = writeSync(this.#fd, bytes);
    if (written !== bytes.length) {
      // Removes half a line on a full disk, unless another program has written since.
      if (fstatSync(this.#fd).size === size + written) ftruncateSync(this.#fd, size);
      throw new Error('the disk took only a part of the label');
    }
    fsyncSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** A line without a line end was never confirmed. Complete lines written by hand are kept. */
  #repair(): number {
    const { size } = fstatSync(this.#fd);
    if (size === 0) return 0;
    if (size > MAX_BYTES)
      throw new UserError('FILE_TOO_LARGE', 'the labels file is larger than 64 MB');
    const all = Buffer.alloc(size);
    const bytes = readSync(this.#fd, all, 0, size, 0);
    const end = all.subarray(0, bytes).lastIndexOf(0x0a) + 1;
    if (end === bytes) return 0;
    if (isJson(all.toString('utf8', end, bytes))) {
      writeSync(this.#fd, '\n');
      fsyncSync(this.#fd);
      return 0;
    }
    ftruncateSync(this.#fd, end);
    fsyncSync(this.#fd);
    return bytes - end;
  }
}

function notOurs(path: string, why: string): UserError {
  return new UserError('FILE_UNREADABLE', `labels cannot be written to ${path}: ${why}`, {
    hint: 'Labels are written to plain files in the folder "labels" next to the spec.',
  });
}

/** A new file is only durable with its directory entry. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const fd = openFile(folder, 'r');
  fsyncSync(fd);
  closeSync(fd);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export interface LabelFiles {
  readonly labels: Label[];
  readonly hasSeen: (rater: string, id: string) => boolean;
  readonly problems: readonly (LabelProblem & { readonly file: string })[];
}

/** Reads the labels of every `*.jsonl` in a folder. */
export function readLabelFolder(folder: string): LabelFiles {
  const names = labelNames(folder);
  const book = new LabelBook();
  const problems: (LabelProblem & { file: string })[] = [];
  let bytes = 0;
  for (const name of names) {
    const path = join(folder, name);
    bytes += lstatSync(path).size;
    if (bytes > MAX_BYTES)
      throw new UserError('FILE_TOO_LARGE', `the labels in ${folder} are larger than 64 MB`);
    // With several files, the names of lines include the file: "line-3" would be ambiguous.
    const found = book.add(readFileSync(path, 'utf8'), `${name}:`);
    problems.push(...found.map((problem) => ({ ...problem, file: name })));
  }
  return { labels: book.labels(), hasSeen: (rater, id) => book.hasSeen(rater, id), problems };
}

/** Changes when anyone adds a label. */
export const labelStamp = (folder: string): string =>
  labelNames(folder)
    .map((name) => {
      const { size, mtimeMs } = lstatSync(join(folder, name));
      return `${name} ${size} ${mtimeMs}`;
    })
    .join('\n');

const labelNames = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
    .map(({ name }) => name)
    .sort()
    .slice(0, MAX_FILES);
