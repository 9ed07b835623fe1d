import type { Advice } from './operator.ts';
import { yamlValue } from './yaml-words.ts';

const MAX_WORD = 60;

/** The words of an answer most worth asking for: a number, what is in quotes or code, else its longest word that is not in the question. */
export function tellingWord(text: string, question = ''): string | undefined {
  const asked = question.toLowerCase();
  const isNew = (word: string): boolean => !asked.includes(word.toLowerCase());
  const found = [
    ...text.matchAll(/\b\d[\d.,:/-]*\d\b|\b\d\b/g),
    ...[...text.matchAll(/[`"“]([^`"“”\n]{2,60})[`"”]/g)].map((match) => [match[1]!]),
  ].map(([word]) => word!);
  const quoted = found.find((word) => word.length <= MAX_WORD && isNew(word));
  if (quoted !== undefined) return quoted;
  let longest: string | undefined;
  for (const [word] of text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}_-]{3,}/gu))
    if (word.length <= MAX_WORD && isNew(word) && word.length > (longest?.length ?? 0)) longest = word;
  return longest;
}

/**
 * Ask for words that only the right answer has. Where a few words changed, only a check that asks for `changed` is about
 * them; where the answer as a whole is another, every one is.
 */
export function askFor(words: string | undefined, changed?: RegExp): Advice {
  return words === undefined
    ? { layer: 'correctness', key: 'llm_judge', yaml: 'llm_judge: [{rule: "…", threshold: 0.7}]' }
    : {
        layer: 'correctness',
        key: 'expected_in_answer',
        yaml: `expected_in_answer: ${yamlValue([words])}`,
        isAbout: (written) => changed === undefined || textsIn(written).some((text) => changed.test(text)),
      };
}

/** Written as text or as a list of texts. */
export const textsIn = (written: unknown): string[] =>
  (Array.isArray(written) ? written : [written]).filter((one) => typeof one === 'string');

/** These words on their own, in any case. */
export const wordsAlone = (words: string): RegExp =>
  new RegExp(`(?<![\\w.])${words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+')}(?!\\w)`, 'i');
