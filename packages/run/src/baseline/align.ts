import type { Edit } from '@agentci/results';

/**
 * A table of this many cells takes a few megabytes and milliseconds. Longer sequences are not
 * aligned.
 */
const MAX_CELLS = 4_000_000;

/** An edit with its positions on the sides that have it. */
export interface PlacedEdit extends Edit {
  readonly before?: number;
  readonly after?: number;
}

/**
 * Aligns two sequences along a longest common subsequence. In each gap, deletions come before
 * insertions. Swapping the sides swaps insertions and deletions and keeps the rest.
 */
export function align(before: readonly string[], after: readonly string[]): PlacedEdit[] {
  // There may be several longest subsequences. A fixed order of the two sides makes the choice
  // symmetric.
  const swapped = comesFirst(after, before);
  const pairs = swapped
    ? commonPairs(after, before).map(([i, j]) => [j, i] as const)
    : commonPairs(before, after);
  const edits: PlacedEdit[] = [];
  let i = 0;
  let j = 0;
  const gap = (toBefore: number, toAfter: number) => {
    for (; i < toBefore; i++) edits.push({ op: 'delete', text: before[i]!, before: i });
    for (; j < toAfter; j++) edits.push({ op: 'insert', text: after[j]!, after: j });
  };
  for (const [atBefore, atAfter] of pairs) {
    gap(atBefore, atAfter);
    edits.push({ op: 'keep', text: before[atBefore]!, before: i++, after: j++ });
  }
  gap(before.length, after.length);
  return edits;
}

function comesFirst(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return a.length < b.length;
  for (const [i, item] of a.entries()) if (item !== b[i]) return item < b[i]!;
  return false;
}

/** Index pairs of a longest common subsequence. */
function commonPairs(a: readonly string[], b: readonly string[]): (readonly [number, number])[] {
  let start = 0;
  const shorter = Math.min(a.length, b.length);
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0; i < start; i++) pairs.push([i, i]);
  const rows = a.length - start - end;
  const columns = b.length - start - end;
  if (rows > 0 && columns > 0 && rows * columns <= MAX_CELLS) {
    const width = columns + 1;
    const lengths = new Uint16Array((rows + 1) * width);
    for (let i = rows - 1; i >= 0; i--) {
      for (let j = columns - 1; j >= 0; j--) {
        const down = lengths[(i + 1) * width + j]!;
        const right = lengths[i * width + j + 1]!;
        lengths[i * width + j] =
          a[start + i] === b[start + j]
            ? lengths[(i + 1) * width + j + 1]! + 1
            : Math.max(down, right);
      }
    }
    for (let i = 0, j = 0; i < rows && j < columns; ) {
      if (a[start + i] === b[start + j]) pairs.push([start + i++, start + j++]);
      else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i++;
      else j++;
    }
  }
  for (let i = end; i > 0; i--) pairs.push([a.length - i, b.length - i]);
  return pairs;
}
