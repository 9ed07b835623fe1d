import { foldText, visibleText } from '@agentci/lib/text';
import { editDistance, lcsLength } from '@agentci/metrics';

/** Similarity of two texts by letters or words, 0 to 1, on visible text. */
export const TEXT_METHODS = {
  rouge_1: (answer, to) => overlapF1(wordsOf(answer), wordsOf(to)),
  rouge_l: (answer, to) => {
    const [a, b] = [wordsOf(answer), wordsOf(to)];
    return f1(lcsLength(a, b), a.length, b.length);
  },
  bleu: (answer, to) => bleu(wordsOf(answer), wordsOf(to)),
  levenshtein: (answer, to) => {
    const [a, b] = [[...visibleText(answer)], [...visibleText(to)]];
    const longer = Math.max(a.length, b.length);
    return longer === 0 ? 1 : 1 - editDistance(a, b) / longer;
  },
  token_f1: (answer, to) =>
    overlapF1(wordsOf(answer).filter(isNoArticle), wordsOf(to).filter(isNoArticle)),
} as const satisfies Record<string, (answer: string, to: string) => number>;

/** Lower-cased runs of letters and digits, without stemming. */
const wordsOf = (text: string): string[] => foldText(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

const ARTICLES: ReadonlySet<string> = new Set(['a', 'an', 'the']);
const isNoArticle = (word: string): boolean => !ARTICLES.has(word);

/** F1 of the shared items. Two empty sequences are equal. */
function f1(shared: number, a: number, b: number): number {
  return a + b === 0 ? 1 : (2 * shared) / (a + b);
}

const overlapF1 = (a: readonly string[], b: readonly string[]): number =>
  f1(shared(counts(a), counts(b)), a.length, b.length);

function counts(items: readonly string[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const item of items) found.set(item, (found.get(item) ?? 0) + 1);
  return found;
}

/** Size of the multiset intersection. */
function shared(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [item, count] of a) sum += Math.min(count, b.get(item) ?? 0);
  return sum;
}

const MAX_N = 4;

/**
 * BLEU-4 of one sentence against one reference, adding one to the counts of two words and more (Lin
 * and Och 2004).
 */
function bleu(answer: readonly string[], to: readonly string[]): number {
  if (answer.length === 0) return to.length === 0 ? 1 : 0;
  let logs = 0;
  for (let n = 1; n <= MAX_N; n++) {
    const said = grams(answer, n);
    const total = Math.max(0, answer.length - n + 1);
    const matched = shared(counts(said), counts(grams(to, n)));
    const precision = n === 1 ? matched / total : (matched + 1) / (total + 1);
    if (precision === 0) return 0;
    logs += Math.log(precision) / MAX_N;
  }
  const brevity = answer.length >= to.length ? 1 : Math.exp(1 - to.length / answer.length);
  return brevity * Math.exp(logs);
}

const grams = (words: readonly string[], n: number): string[] =>
  words.slice(0, Math.max(0, words.length - n + 1)).map((_, i) => words.slice(i, i + n).join(' '));
