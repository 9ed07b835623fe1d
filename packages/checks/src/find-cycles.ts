/** Number of cycle repetitions, and where each begins. */
export interface Cycles {
  readonly repetitions: number;
  readonly at: readonly number[];
}

/**
 * The maximum number of non-overlapping repetitions of cycles of up to `longest` words. A B A B has
 * one (of A B), and A A A has two (of A). The first round of a cycle is not a repetition.
 */
export function findCycles(words: readonly string[], longest: number): Cycles {
  const count = words.length;
  const cycles = Array.from({ length: longest }, (_, i) => i + 1).filter(
    (cycle) => 2 * cycle <= count,
  );
  /** Whether the cycle that begins at a word repeats right after. */
  const repeats = new Map(cycles.map((cycle) => [cycle, repeatsOf(words, cycle)]));
  // From the end: the best count from each word on, without and with a round that ends before it.
  const best = new Int32Array(count + 1);
  const begins = new Int32Array(count + 1);
  const after = new Map(cycles.map((cycle) => [cycle, new Int32Array(count + 1)]));
  for (let i = count - 1; i >= 0; i--) {
    best[i] = best[i + 1]!;
    for (const cycle of cycles) {
      if (repeats.get(cycle)![i] === 0) continue;
      const total = after.get(cycle)![i + 2 * cycle]! + 1;
      // Ties go to the earlier start.
      if (total < best[i]! || (total === best[i] && begins[i] !== 0)) continue;
      best[i] = total;
      begins[i] = cycle;
    }
    for (const cycle of cycles) {
      const again =
        i >= cycle && repeats.get(cycle)![i - cycle] === 1 ? after.get(cycle)![i + cycle]! + 1 : 0;
      after.get(cycle)![i] = Math.max(best[i]!, again);
    }
  }
  return { repetitions: best[0]!, at: places(best, begins, { repeats, after }) };
}

function repeatsOf(words: readonly string[], cycle: number): Uint8Array {
  const found = new Uint8Array(words.length + 1);
  for (let i = words.length - cycle - 1, equal = 0; i >= 0; i--) {
    equal = words[i] === words[i + cycle] ? equal + 1 : 0;
    if (equal >= cycle) found[i] = 1;
  }
  return found;
}

/** Start positions of the counted repetitions. */
function places(
  best: Int32Array,
  begins: Int32Array,
  {
    repeats,
    after,
  }: { repeats: ReadonlyMap<number, Uint8Array>; after: ReadonlyMap<number, Int32Array> },
): number[] {
  const at: number[] = [];
  for (let i = 0; i < best.length - 1; ) {
    const cycle = begins[i]!;
    if (cycle === 0) {
      i++;
      continue;
    }
    at.push(i + cycle);
    i += 2 * cycle;
    while (
      repeats.get(cycle)![i - cycle] === 1 &&
      after.get(cycle)![i] === after.get(cycle)![i + cycle]! + 1
    ) {
      at.push(i);
      i += cycle;
    }
  }
  return at;
}
