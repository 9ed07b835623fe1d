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

/** The name of a rater's file. Every line has the rater's own name, so two that become alike may share a file. */
export function fileNameOf(rater: string): string {
  const plain = rater
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}_-]+/gu, '-')
    .replace(/^-+|-+$/g, '');
  return `${[...plain].slice(0, MAX_NAME).join('') || 'rater'}.jsonl`;
}

/** Appends labels to one file of the labels folder. A label is on disk when `append` returns. */
export class LabelWriter {
  readonly #fd: number;
  /** What a program that was killed had begun to write and never confirmed. */
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
    // NOFOLLOW: a link may have been put there since. Windows has no such flag, and links there need rights.
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
    // One write: lines of two programs do not mix.
    const written = writeSync(this.#fd, bytes);
    if (written !== bytes.length) {
      // Half a line on a full disk is taken back, unless another program has written since.
      if (fstatSync(this.#fd).size === size + written) ftruncateSync(this.#fd, size);
      throw new Error('the disk took only a part of the label');
    }
    fsyncSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** A line without its end was never confirmed. Whole ones written by hand are kept. */
  #repair(): number {
    const { size } = fstatSync(this.#fd);
    if (size === 0) return 0;
    if (size > MAX_BYTES)
      throw new UserError('LABELS_TOO_LARGE', 'the labels file is larger than 64 MB');
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
  return new UserError('LABELS_UNSAFE', `labels cannot be written to ${path}: ${why}`, {
    hint: 'Labels are written to plain files in the folder "labels" beside the spec.',
  });
}

/** A new file is lost with its folder's entry. */
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

/** The labels in every `*.jsonl` of a folder. */
export function readLabelFolder(folder: string): LabelFiles {
  const names = labelNames(folder);
  const book = new LabelBook();
  const problems: (LabelProblem & { file: string })[] = [];
  let bytes = 0;
  for (const name of names) {
    const path = join(folder, name);
    bytes += lstatSync(path).size;
    if (bytes > MAX_BYTES)
      throw new UserError('LABELS_TOO_LARGE', `the labels in ${folder} are larger than 64 MB`);
    // Of several files, names of lines need the file: "line-3" would be in each.
    const found = book.add(readFileSync(path, 'utf8'), `${name}:`);
    problems.push(...found.map((problem) => ({ ...problem, file: name })));
  }
  return { labels: book.labels(), hasSeen: (rater, id) => book.hasSeen(rater, id), problems };
}

/** Changes whenever a label was added, by whomever. */
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
