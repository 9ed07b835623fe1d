/** Quoted texts, numbers and words are units; other characters are separate. */
const UNITS = /"(?:[^"\\]|\\.)*"|[\p{L}\p{N}_]+(?:[.,:/-][\p{L}\p{N}_]+)*|\s+|./gsu;
const MAX_UNITS = 120;
const GAP = '…';

const unitsOf = (text: string): string[] => (text.match(UNITS) ?? []).slice(0, MAX_UNITS);

/** The common parts of two sentences, with `…` for the differences. */
export function commonText(a: string, b: string): string {
  if (a === b) return a;
  const [first, second] = [unitsOf(a), unitsOf(b)];
  // Length of the longest common subsequence of the remaining units.
  const longest = Array.from({ length: first.length + 1 }, () => new Uint8Array(second.length + 1));
  for (let i = first.length - 1; i >= 0; i--)
    for (let j = second.length - 1; j >= 0; j--)
      longest[i]![j] =
        first[i] === second[j]
          ? longest[i + 1]![j + 1]! + 1
          : Math.max(longest[i + 1]![j]!, longest[i]![j + 1]!);
  const kept: string[] = [];
  let [i, j] = [0, 0];
  while (i < first.length && j < second.length) {
    if (first[i] === second[j]) {
      kept.push(first[i]!);
      i++;
      j++;
    } else {
      if (longest[i + 1]![j]! >= longest[i]![j + 1]!) i++;
      else j++;
      kept.push(GAP);
    }
  }
  if (i < first.length || j < second.length) kept.push(GAP);
  // A comma or space between two gaps matched by chance.
  return kept
    .join('')
    .replace(/…(?:[\s,;·"]*…)+/g, GAP)
    .replace(/\s+/g, ' ')
    .trim();
}
