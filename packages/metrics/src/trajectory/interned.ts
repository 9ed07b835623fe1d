import { visibleNames } from '@agentci/lib/text';

/** Two sequences as numbers, without their common prefix and suffix. */
export interface InternedPair {
  readonly a: Int32Array;
  readonly b: Int32Array;
  /** Length of the removed prefix and suffix. */
  readonly shared: number;
  /** Number of distinct names. Every number is below it. */
  readonly size: number;
}

/**
 * Numbers the names of two sequences, so that inner loops compare integers. A common prefix or
 * suffix is part of some longest common subsequence and some shortest edit, so both may skip it.
 */
export function internPair(first: readonly string[], second: readonly string[]): InternedPair {
  const a = visibleNames(first);
  const b = visibleNames(second);
  let start = 0;
  const shorter = Math.min(a.length, b.length);
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const ids = new Map<string, number>();
  const numbered = (names: readonly string[]): Int32Array => {
    const numbers = new Int32Array(names.length - start - end);
    for (let i = 0; i < numbers.length; i++) {
      const name = names[start + i]!;
      let id = ids.get(name);
      if (id === undefined) {
        id = ids.size;
        ids.set(name, id);
      }
      numbers[i] = id;
    }
    return numbers;
  };
  return { a: numbered(a), b: numbered(b), shared: start + end, size: ids.size };
}

/** Bit positions of each name among 32 items of a sequence. All words share one buffer. */
export class WordBits {
  readonly bits: Int32Array;
  private readonly sequence: Int32Array;

  constructor(sequence: Int32Array, size: number) {
    this.sequence = sequence;
    this.bits = new Int32Array(size);
  }

  get words(): number {
    return Math.ceil(this.sequence.length / 32);
  }

  /** Fills the buffer for a word. Call `clear` before the next one. */
  fill(word: number): void {
    const end = Math.min(this.sequence.length, word * 32 + 32);
    for (let i = word * 32; i < end; i++) {
      const id = this.sequence[i]!;
      this.bits[id] = this.bits[id]! | (1 << (i & 31));
    }
  }

  clear(word: number): void {
    const end = Math.min(this.sequence.length, word * 32 + 32);
    for (let i = word * 32; i < end; i++) this.bits[this.sequence[i]!] = 0;
  }
}
