/** A matching passage with its score. */
export interface Found {
  readonly id: string;
  readonly text: string;
  readonly score: number;
}

interface Passage {
  readonly id: string;
  readonly text: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

// The usual parameters of Okapi BM25: saturation of repeated words, and penalty for long passages.
const K1 = 1.5;
const B = 0.75;
/** Below this share of the question's weight, a passage is about another topic. */
const MIN_COVERAGE = 0.4;

const STOP_WORDS = new Set(
  'a an and are at be can do does for from give has have how i in is it me my of on or s tell the there this to use what which who with you your'.split(
    ' ',
  ),
);

/** Meaningful words in lower case, without the most common endings. */
export function terms(text: string): string[] {
  return (text.toLowerCase().match(/[a-z0-9]+/g) ?? [])
    .filter((word) => !STOP_WORDS.has(word))
    .map((word) => (word.length > 4 ? word.replace(/(ing|ed|es|s)$/, '') : word));
}

/** An Okapi BM25 index in memory: passages that share rare words with the question rank first. */
export class Bm25 {
  readonly #passages: readonly Passage[];
  readonly #frequency = new Map<string, number>();
  readonly #meanLength: number;

  constructor(passages: readonly { readonly id: string; readonly text: string }[]) {
    this.#passages = passages.map(({ id, text }) => {
      const words = terms(text);
      const counts = new Map<string, number>();
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
      for (const word of counts.keys())
        this.#frequency.set(word, (this.#frequency.get(word) ?? 0) + 1);
      return { id, text, counts, length: words.length };
    });
    const total = this.#passages.reduce((sum, { length }) => sum + length, 0);
    this.#meanLength = total / Math.max(1, this.#passages.length);
  }

  search(question: string, k: number): Found[] {
    const words = [...new Set(terms(question))];
    const weight = words.reduce((sum, word) => sum + this.#idf(word), 0);
    return this.#passages
      .map(({ id, text, counts, length }) => {
        const shared = words.filter((word) => counts.has(word));
        const covered = shared.reduce((sum, word) => sum + this.#idf(word), 0);
        const score = shared.reduce((sum, word) => {
          const count = counts.get(word) ?? 0;
          return (
            sum +
            (this.#idf(word) * count * (K1 + 1)) /
              (count + K1 * (1 - B + (B * length) / this.#meanLength))
          );
        }, 0);
        return { id, text, score, covered };
      })
      .filter(({ covered }) => covered > 0 && covered >= MIN_COVERAGE * weight)
      .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
      .slice(0, k)
      .map(({ id, text, score }) => ({ id, text, score }));
  }

  #idf(word: string): number {
    const n = this.#frequency.get(word) ?? 0;
    return Math.log(1 + (this.#passages.length - n + 0.5) / (n + 0.5));
  }
}
