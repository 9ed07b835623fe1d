/** Whether expected call `i` matches recorded call `j`. */
export type Fits = (i: number, j: number) => boolean;

/** The score of a comparison, and which recorded call matches which expected one. */
export interface Alignment {
  readonly score: number;
  /** For each expected call, the index of its recorded call. */
  readonly pairs: readonly (number | undefined)[];
  /** Unexpected calls, if the mode forbids them. */
  readonly extra: readonly number[];
}

export const CALL_MODES = ['exact', 'unordered', 'in_order', 'any_order', 'only'] as const;
export type CallMode = (typeof CALL_MODES)[number];

/** Compares `n` expected calls with `m` recorded ones. */
export function alignCalls(mode: CallMode, n: number, m: number, fits: Fits): Alignment {
  switch (mode) {
    case 'in_order': {
      const pairs = longestInOrder(n, m, fits);
      return { score: share(found(pairs), n), pairs, extra: [] };
    }
    case 'any_order': {
      const pairs = largestMatching(n, m, fits);
      return { score: share(found(pairs), n), pairs, extra: [] };
    }
    case 'unordered': {
      const pairs = largestMatching(n, m, fits);
      return {
        score: n + m === 0 ? 1 : (2 * found(pairs)) / (n + m),
        pairs,
        extra: others(pairs, m),
      };
    }
    case 'exact': {
      const pairs = longestInOrder(n, m, fits);
      const longer = Math.max(n, m);
      return {
        score: longer === 0 ? 1 : 1 - edits(n, m, fits) / longer,
        pairs,
        extra: others(pairs, m),
      };
    }
    case 'only': {
      const pairs = Array.from({ length: n }, (_, i) => indexOf(m, (j) => fits(i, j)));
      const extra = Array.from({ length: m }, (_, j) => j).filter(
        (j) => indexOf(n, (i) => fits(i, j)) === undefined,
      );
      return { score: share(m - extra.length, m), pairs, extra };
    }
  }
}

const share = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole);
const found = (pairs: Alignment['pairs']): number => pairs.filter((j) => j !== undefined).length;

function indexOf(length: number, test: (index: number) => boolean): number | undefined {
  for (let i = 0; i < length; i++) if (test(i)) return i;
  return undefined;
}

function others(pairs: Alignment['pairs'], m: number): number[] {
  const taken = new Set(pairs);
  return Array.from({ length: m }, (_, j) => j).filter((j) => !taken.has(j));
}

/** Matches as many expected calls as possible in order: the longest common subsequence. */
function longestInOrder(n: number, m: number, fits: Fits): (number | undefined)[] {
  const width = m + 1;
  const best = new Uint32Array((n + 1) * width);
  for (let i = n - 1; i >= 0; i--)
    for (let j = m - 1; j >= 0; j--)
      best[i * width + j] = fits(i, j)
        ? best[(i + 1) * width + j + 1]! + 1
        : Math.max(best[(i + 1) * width + j]!, best[i * width + j + 1]!);
  const pairs: (number | undefined)[] = Array.from({ length: n }, () => undefined);
  for (let i = 0, j = 0; i < n && j < m; ) {
    if (fits(i, j)) pairs[i++] = j++;
    else if (best[(i + 1) * width + j]! >= best[i * width + j + 1]!) i++;
    else j++;
  }
  return pairs;
}

/**
 * Matches each expected call to a different recorded one, as many as possible. Uses augmenting
 * paths, because a greedy choice may take a call that another one needs.
 */
function largestMatching(n: number, m: number, fits: Fits): (number | undefined)[] {
  const edges = Array.from({ length: n }, (_, i) => {
    const list: number[] = [];
    for (let j = 0; j < m; j++) if (fits(i, j)) list.push(j);
    return list;
  });
  const owner = new Int32Array(m).fill(-1);
  const augment = (start: number): boolean => {
    // Breadth first with a queue, because recursion over a long run could overflow the stack.
    const cameFrom = new Map<
      number,
      { readonly call: number; readonly expected: number } | undefined
    >([[start, undefined]]);
    const queue = [start];
    const seen = new Uint8Array(m);
    for (const i of queue) {
      for (const j of edges[i]!) {
        if (seen[j]) continue;
        seen[j] = 1;
        if (owner[j] === -1) {
          for (let call = j, expected: number = i; ; ) {
            const before = cameFrom.get(expected);
            owner[call] = expected;
            if (before === undefined) return true;
            call = before.call;
            expected = before.expected;
          }
        }
        const next = owner[j]!;
        if (!cameFrom.has(next)) {
          cameFrom.set(next, { call: j, expected: i });
          queue.push(next);
        }
      }
    }
    return false;
  };
  for (let i = 0; i < n; i++) augment(i);
  const pairs: (number | undefined)[] = Array.from({ length: n }, () => undefined);
  for (let j = 0; j < m; j++) if (owner[j] !== -1) pairs[owner[j]!] = j;
  return pairs;
}

/** Minimum number of insertions, deletions and replacements. */
function edits(n: number, m: number, fits: Fits): number {
  let row = Array.from({ length: m + 1 }, (_, j) => j);
  for (let i = 1; i <= n; i++) {
    const next = [i];
    for (let j = 1; j <= m; j++)
      next.push(
        Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (fits(i - 1, j - 1) ? 0 : 1)),
      );
    row = next;
  }
  return row[m]!;
}
