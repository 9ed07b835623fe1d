import { closeSync, existsSync, openSync, readSync } from 'node:fs';

const BLOCK = 1024 * 1024;
/** Longer lines are not ours, and reading stops there to bound memory. */
const MAX_LINE = 256 * 1024 * 1024;

/** A line without its line break. */
export interface FileLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
  /** False for an incomplete last line, such as after a kill. */
  readonly isWhole: boolean;
}

/** The lines of a file, lazily. A missing file has none. */
export function* readLines(path: string): Generator<FileLine> {
  if (!existsSync(path)) return;
  const fd = openSync(path, 'r');
  try {
    let block: Buffer = Buffer.allocUnsafe(BLOCK);
    let filled = 0;
    let number = 0;
    for (;;) {
      if (filled === block.length)
        block = Buffer.concat([block], Math.min(2 * block.length, MAX_LINE));
      const length =
        filled === block.length ? 0 : readSync(fd, block, filled, block.length - filled, null);
      if (length === 0) break;
      filled += length;
      let start = 0;
      for (;;) {
        const end = block.indexOf(0x0a, start);
        if (end < 0 || end >= filled) break;
        number++;
        if (end > start) yield { text: block.toString('utf8', start, end), number, isWhole: true };
        start = end + 1;
      }
      if (start > 0) block.copyWithin(0, start, filled);
      filled -= start;
    }
    if (filled > 0)
      yield {
        text: block.toString('utf8', 0, Math.min(filled, BLOCK)),
        number: number + 1,
        isWhole: false,
      };
  } finally {
    closeSync(fd);
  }
}
