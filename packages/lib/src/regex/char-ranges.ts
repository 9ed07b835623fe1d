import type { AST } from '@eslint-community/regexpp';

/** Sorted, non-overlapping code point ranges. */
export type CharRanges = readonly (readonly [number, number])[];

const LAST = 0x10ffff;
const DIGIT: CharRanges = [[0x30, 0x39]];
const WORD: CharRanges = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** JavaScript's white space. RE2 knows only the ASCII part. */
export const SPACE: CharRanges = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_ENDS: CharRanges = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];

/** Everything outside the given ranges. */
export function complement(ranges: CharRanges): CharRanges {
  const result: [number, number][] = [];
  let next = 0;
  for (const [lo, hi] of ranges) {
    if (lo > next) result.push([next, lo - 1]);
    next = hi + 1;
  }
  if (next <= LAST) result.push([next, LAST]);
  return result;
}

function union(ranges: readonly (readonly [number, number])[]): CharRanges {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  const result: [number, number][] = [];
  for (const [lo, hi] of sorted) {
    const last = result.at(-1);
    if (last !== undefined && lo <= last[1] + 1) last[1] = Math.max(last[1], hi);
    else result.push([lo, hi]);
  }
  return result;
}

/**
 * The characters that a node can consume. Undefined if unknown (a Unicode property, or not one
 * character).
 */
export function nodeRanges(node: AST.Node, dotAll: boolean): CharRanges | undefined {
  switch (node.type) {
    case 'Character':
      return [[node.value, node.value]];
    case 'CharacterClassRange':
      return [[node.min.value, node.max.value]];
    case 'CharacterSet': {
      if (node.kind === 'any') return dotAll ? [[0, LAST]] : complement(LINE_ENDS);
      if (node.kind === 'property') return undefined;
      const ranges = { digit: DIGIT, word: WORD, space: SPACE }[node.kind];
      return node.negate ? complement(ranges) : ranges;
    }
    case 'CharacterClass': {
      const all: (readonly [number, number])[] = [];
      for (const item of node.elements) {
        const ranges = nodeRanges(item, dotAll);
        if (ranges === undefined) return undefined;
        all.push(...ranges);
      }
      return node.negate ? complement(union(all)) : union(all);
    }
    default:
      return undefined;
  }
}

/** Whether two sets have no character in common. */
export function areDisjoint(a: CharRanges, b: CharRanges): boolean {
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i]![1] < b[j]![0]) i++;
    else if (b[j]![1] < a[i]![0]) j++;
    else return false;
  }
  return true;
}

/**
 * Ranges plus the other case of ASCII letters. Undefined for letters beyond ASCII, whose folding
 * needs tables.
 */
export function withBothCases(ranges: CharRanges): CharRanges | undefined {
  const all: (readonly [number, number])[] = [...ranges];
  for (const [lo, hi] of ranges) {
    // A set beyond ASCII may contain a character that folds to any letter.
    if (hi > 0x7f) return undefined;
    for (let code = lo; code <= hi; code++) {
      let other: number;
      if (code >= 0x41 && code <= 0x5a) other = code + 32;
      else if (code >= 0x61 && code <= 0x7a) other = code - 32;
      else other = code;
      if (other !== code) all.push([other, other]);
    }
  }
  return union(all);
}
