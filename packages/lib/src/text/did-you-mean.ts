/**
 * The candidate closest to a misspelt word, or undefined if none is close. `share` of its letters
 * may differ.
 */
export function didYouMean(
  word: string,
  candidates: Iterable<string>,
  share = 0.4,
): string | undefined {
  const folded = word.toLowerCase().replaceAll('-', '_');
  const limit = Math.max(1, Math.floor(word.length * share));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    const distance = editDistance(
      folded,
      candidate.toLowerCase().replaceAll('-', '_'),
      bestDistance,
    );
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/**
 * The shortest candidate with all words of a key and more: `max_tools` for `max_tool_calls`. A
 * single word is too ambiguous.
 */
export function sameWords(key: string, candidates: Iterable<string>): string | undefined {
  const words = wordsOf(key);
  if (words.length < 2) return undefined;
  return [...candidates]
    .filter((candidate) => {
      const others = new Set(wordsOf(candidate));
      return words.every((word) => others.has(word));
    })
    .sort((a, b) => a.length - b.length)[0];
}

/** Ignores plurals: `max_tool_call`, `max_tool_calls`. */
const wordsOf = (key: string): string[] =>
  key
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_\s-]+/)
    .map((word) => word.replace(/(?<=..)s$/, ''))
    .filter(Boolean);

/**
 * Damerau–Levenshtein distance (adjacent swaps count one). Stops once every cell of a row reaches
 * `limit`.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let smallest = i;
    for (let j = 1; j <= b.length; j++) {
      let cell = Math.min(
        previous[j]! + 1,
        row[j - 1]! + 1,
        previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cell = Math.min(cell, beforePrevious[j - 2]! + 1);
      row.push(cell);
      smallest = Math.min(smallest, cell);
    }
    if (smallest >= limit) return limit;
    beforePrevious = previous;
    previous = row;
  }
  return previous[b.length]!;
}
