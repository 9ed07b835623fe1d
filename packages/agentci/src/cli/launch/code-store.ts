import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** A part of the program as it lies on disk: code compiled from an older file of the same name must not be run. */
export interface Stamp {
  mtimeMs: number;
  size: number;
}

export interface Stored {
  /** How many runs have added what they compiled. */
  runs: number;
  code: Buffer;
}

const MAGIC = 0x61_63_69_31;
/** Magic, runs, time and size of the source, a sample of the code; a multiple of eight, as V8 wants its data aligned. */
const HEAD = 32;
const KEPT_FOLDERS = 4;

/**
 * Compiled code beside the program, one folder for each Node that runs it: whoever can write there can change the
 * program itself. Where nothing can be written the program compiles what it needs, each time.
 */
export class CodeStore {
  readonly #root: string;
  readonly #folder: string;
  readonly #command: string;

  constructor(root: string, command: string | undefined) {
    this.#root = root;
    this.#folder = join(root, nameOfThisNode());
    this.#command = /^[a-z][a-z-]{0,15}$/.test(command ?? '') ? command! : 'other';
  }

  read(chunk: string, { mtimeMs, size }: Stamp): Stored | undefined {
    try {
      const bytes = readFileSync(this.#fileOf(chunk));
      const isOurs = bytes.length > HEAD && bytes.readUInt32LE(0) === MAGIC;
      if (!isOurs || bytes.readDoubleLE(8) !== mtimeMs || bytes.readDoubleLE(16) !== size)
        return undefined;
      const code = bytes.subarray(HEAD);
      return bytes.readUInt32LE(24) === sampleOf(code)
        ? { runs: bytes.readUInt32LE(4), code }
        : undefined;
    } catch {
      return undefined;
    }
  }

  write(chunk: string, { mtimeMs, size }: Stamp, { runs, code }: Stored): void {
    const head = Buffer.alloc(HEAD);
    head.writeUInt32LE(MAGIC, 0);
    head.writeUInt32LE(runs, 4);
    head.writeDoubleLE(mtimeMs, 8);
    head.writeDoubleLE(size, 16);
    head.writeUInt32LE(sampleOf(code), 24);
    const file = this.#fileOf(chunk);
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, Buffer.concat([head, code]));
    renameSync(draft, file);
  }

  /** Makes room for this Node, in place of the one that was last used longest ago. */
  open(): void {
    mkdirSync(this.#folder, { recursive: true });
    const others = readdirSync(this.#root)
      .map((name) => join(this.#root, name))
      .filter((folder) => folder !== this.#folder)
      .map((folder) => ({ folder, at: statSync(folder).mtimeMs }))
      .sort((a, b) => b.at - a.at);
    for (const { folder } of others.slice(KEPT_FOLDERS - 1))
      rmSync(folder, { recursive: true, force: true });
  }

  #fileOf(chunk: string): string {
    return join(this.#folder, `${this.#command}.${chunk}.bin`);
  }
}

/**
 * V8 checks the length of what it is given, not the bytes. A page that a crash of the machine left empty shows in a
 * word of every kilobyte; a sum of all of them would take longer than the compiling it saves.
 */
function sampleOf(code: Buffer): number {
  let sum = code.length;
  for (let at = 0; at + 4 <= code.length; at += 1024)
    sum = (sum * 31 + code.readUInt32LE(at)) >>> 0;
  return sum;
}

/** V8 refuses code compiled by another version or under other flags. */
function nameOfThisNode(): string {
  const flags = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').trim();
  let sum = 5381;
  for (let i = 0; i < flags.length; i++) sum = (sum * 33 + flags.charCodeAt(i)) >>> 0;
  return `${process.version}-${process.arch}${flags === '' ? '' : `-${sum.toString(36)}`}`;
}
