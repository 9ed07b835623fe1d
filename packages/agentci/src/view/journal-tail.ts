import { closeSync, fstatSync, readSync } from 'node:fs';
import { openFile } from '@agentci/lib/files';
import type { QueryResult } from '@agentci/results';
import { caseKey, worstStatus } from '@agentci/results';
import type { JournalEntry } from '@agentci/run';

const CHUNK_BYTES = 1 << 20;

/** Follows the journal of a run in progress. Each call reads only the new part. */
export class JournalTail {
  readonly #path: string;
  readonly #byCase = new Map<string, QueryResult[]>();
  readonly #order: string[] = [];
  #offset = 0;
  #sawHeader = false;
  #rest: Buffer<ArrayBufferLike> = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
  }

  /** Number of entries so far. */
  get entries(): number {
    return this.#order.length;
  }

  look(): void {
    const fd = openFile(this.#path, 'r');
    try {
      const { size } = fstatSync(fd);
      while (this.#offset < size) {
        const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size - this.#offset));
        const bytes = readSync(fd, chunk, 0, chunk.length, this.#offset);
        if (bytes === 0) break;
        this.#offset += bytes;
        this.#take(Buffer.concat([this.#rest, chunk.subarray(0, bytes)]));
      }
    } finally {
      closeSync(fd);
    }
  }

  /** One result per query with an entry from number `from` on. */
  resultsFrom(from: number): QueryResult[] {
    return [...new Set(this.#order.slice(from))].map((key) => soFar(this.#byCase.get(key)!));
  }

  #take(bytes: Buffer): void {
    const end = bytes.lastIndexOf(0x0a) + 1;
    this.#rest = bytes.subarray(end);
    for (const line of bytes.toString('utf8', 0, end).split('\n')) {
      if (line === '') continue;
      // The first line is the header.
      if (this.#sawHeader) this.#add(line);
      this.#sawHeader = true;
    }
  }

  #add(line: string): void {
    let entry: JournalEntry;
    try {
      entry = JSON.parse(line) as JournalEntry;
    } catch {
      // `report` and `--resume` report a damaged line. The page still shows the rest.
      return;
    }
    if (typeof entry?.id !== 'string' || typeof entry.result !== 'object' || entry.result === null)
      return;
    const key = caseKey({ id: entry.id, cell: entry.result.cell });
    this.#order.push(key);
    const runs = this.#byCase.get(key);
    if (runs) runs.push(entry.result);
    else this.#byCase.set(key, [entry.result]);
  }
}

/** The preliminary result: the worst repeat so far. The finished run has the real verdict. */
function soFar(runs: readonly QueryResult[]): QueryResult {
  const status = worstStatus(runs.map((run) => run.status));
  return runs.find((run) => run.status === status) ?? runs[0]!;
}
