import { internPair, WordBits } from './interned.ts';

/**
 * Similarity of two call sequences by edits: 1 − distance / max(|a|, |b|), 0 to 1. Two empty
 * sequences are equal.
 */
export function sequenceEdit(a: readonly string[], b: readonly string[]): number {
  const longer = Math.max(a.length, b.length);
  return longer === 0 ? 1 : 1 - editDistance(a, b) / longer;
}

/**
 * Levenshtein distance of two sequences, 32 table cells per integer operation (Myers 1999, in
 * Hyyrö's form for several words, 2003).
 */
export function editDistance(first: readonly string[], second: readonly string[]): number {
  const { a, b, size } = internPair(first, second);
  const [row, column] = a.length <= b.length ? [a, b] : [b, a];
  if (row.length === 0) return column.length;
  const rowBits = new WordBits(row, size);
  // Column differences at the border between two words. At the upper border each call costs one
  // insertion.
  const edgePlus = new Uint8Array(column.length).fill(1);
  const edgeMinus = new Uint8Array(column.length);
  const lastWord = rowBits.words - 1;
  const lastBit = 1 << ((row.length - 1) & 31);
  let distance = row.length;
  for (let word = 0; word <= lastWord; word++) {
    rowBits.fill(word);
    // Row differences: the cells that grow by one, and the cells that shrink by one.
    let plus = -1;
    let minus = 0;
    for (let j = 0; j < column.length; j++) {
      const match = rowBits.bits[column[j]!]!;
      const carryPlus = edgePlus[j]!;
      const carryMinus = edgeMinus[j]!;
      const equal = match | carryMinus;
      const vertical = match | minus;
      const horizontal = (((equal & plus) + plus) ^ plus) | equal;
      let grows = minus | ~(horizontal | plus);
      let shrinks = plus & horizontal;
      if (word === lastWord) {
        if ((grows & lastBit) !== 0) distance++;
        if ((shrinks & lastBit) !== 0) distance--;
      }
      edgePlus[j] = grows >>> 31;
      edgeMinus[j] = shrinks >>> 31;
      grows = (grows << 1) | carryPlus;
      shrinks = (shrinks << 1) | carryMinus;
      plus = shrinks | ~(vertical | grows);
      minus = grows & vertical;
    }
    rowBits.clear(word);
  }
  return distance;
}
