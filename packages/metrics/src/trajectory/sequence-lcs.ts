import { internPair, WordBits } from './interned.ts';

/**
 * Order-preserving similarity of two call sequences: 2·|LCS| / (|a| + |b|), 0 to 1. Two empty
 * sequences are equal.
 */
export function sequenceLcs(a: readonly string[], b: readonly string[]): number {
  if (a.length + b.length === 0) return 1;
  return (2 * lcsLength(a, b)) / (a.length + b.length);
}

/**
 * Length of the longest common subsequence, 32 table cells per integer operation (Crochemore and
 * others, "A fast and practical bit-vector algorithm for the longest common subsequence problem",
 * 2001).
 */
export function lcsLength(first: readonly string[], second: readonly string[]): number {
  const { a, b, shared, size } = internPair(first, second);
  // The bits run along the shorter sequence, which leaves fewer words per call of the longer one.
  const [row, column] = a.length <= b.length ? [a, b] : [b, a];
  if (row.length === 0) return shared;
  const rowBits = new WordBits(row, size);
  // Word by word over the whole column, passing one carry per call.
  const carries = new Uint8Array(column.length);
  let length = shared;
  for (let word = 0; word < rowBits.words; word++) {
    rowBits.fill(word);
    // A zero bit marks a position where the length grows.
    let state = -1;
    for (let j = 0; j < column.length; j++) {
      const match = state & rowBits.bits[column[j]!]!;
      const sum = (state >>> 0) + (match >>> 0) + carries[j]!;
      carries[j] = sum > 0xffffffff ? 1 : 0;
      state = sum | 0 | (state & ~match);
    }
    rowBits.clear(word);
    const used = Math.min(32, row.length - word * 32);
    for (let bit = 0; bit < used; bit++) if ((state & (1 << bit)) === 0) length++;
  }
  return length;
}
