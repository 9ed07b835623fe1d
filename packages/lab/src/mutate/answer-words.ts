import type { Advice } from './operator.ts';

const MAX_WORD = 60;

/**
 * The most telling words of an answer: a number, quoted text or code, else its longest word that is
 * not in the question.
 */
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
    if (word.length <= MAX_WORD && isNew(word) && word.length > (longest?.length ?? 0))
      longest = word;
  return longest;
}

/**
 * Advice to require words that only the right answer has. If a few words changed, only checks on
 * `changed` apply. If the whole answer changed, every check does. A rubric is the last resort and
 * is not tried here.
 */
export function askFor(
  words: readonly (string | undefined)[],
  changed?: RegExp,
): readonly [Advice, ...Advice[]] {
  const isAbout = (written: unknown): boolean =>
    changed === undefined || textsIn(written).some((text) => changed.test(text));
  const asked = [...new Set(words)].filter((one) => one !== undefined && one.trim() !== '');
  const advice = asked.map(
    (one): Advice => ({ layer: 'correctness', key: 'expected_in_answer', value: [one], isAbout }),
  );
  const [first, ...others] = [...advice, RUBRIC];
  return [first!, ...others];
}

const RUBRIC: Advice = { layer: 'correctness', key: 'llm_judge', value: undefined };

/** Like `askFor`, with a pattern for words that also occur inside other words or numbers. */
export function askForAlone(
  words: readonly string[],
  changed: RegExp,
): readonly [Advice, ...Advice[]] {
  const advice = askFor(words, changed);
  const pattern = `\\b${escapePattern(words[0]!)}\\b`;
  return [
    advice[0],
    ...advice.slice(1, -1),
    { layer: 'correctness', key: 'regex_match', value: pattern },
    RUBRIC,
  ];
}

/** A word with its neighbors in the answer, closest first. */
export function withNeighbours(text: string, start: number, end: number): string[] {
  const before = /\S+\s+\S*$/.exec(text.slice(Math.max(0, start - MAX_WORD), start))?.[0] ?? '';
  const after = /^\S*\s+\S+/.exec(text.slice(end, end + MAX_WORD))?.[0] ?? '';
  const word = text.slice(start, end);
  return [word + after, before + word, before + word + after].map((phrase) =>
    phrase.replace(/[.,;:!?)]+$/, ''),
  );
}

/** Accepts a text or a list of texts. */
export const textsIn = (written: unknown): string[] =>
  (Array.isArray(written) ? written : [written]).filter((one) => typeof one === 'string');

/** A pattern for these whole words, case-insensitive. */
export const wordsAlone = (words: string): RegExp =>
  new RegExp(`(?<![\\w.])${escapePattern(words).replace(/\s+/g, '\\s+')}(?!\\w)`, 'i');

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
