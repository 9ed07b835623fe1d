import { foundTerms, termsOf } from '@agentci/reporters/shared';
import { type CheckResult, LAYERS, type QueryResult } from '@agentci/results';

/** An expectation of the spec in words, and whether it was met. */
export interface Wanted {
  readonly check: CheckResult;
  /** The description before the terms or the limit. */
  readonly words: string;
  readonly limit?: string;
  /** `isMet` is undefined if the result does not contain it. */
  readonly terms?: readonly { readonly text: string; readonly isMet: boolean | undefined }[];
}

const TERM_LISTS: Readonly<Record<string, string>> = {
  expected_in_answer: 'The answer contains all of',
  any_expected_in_answer: 'The answer contains at least one of',
  not_in_answer: 'The answer contains none of',
};
const TEXTS: Readonly<Record<string, string>> = {
  exact_match: 'The answer is exactly',
  regex_match: 'The answer matches',
  starts_with: 'The answer starts with',
};

/** Expectations: all checks of the answer, and those of other layers that did not pass. */
export const wantedOf = (result: QueryResult): Wanted[] =>
  LAYERS.flatMap((layer) =>
    result[layer].checks
      .filter(({ status }) => status !== 'skip' && (layer === 'correctness' || status !== 'pass'))
      .map((check) => wanted(check, result)),
  );

function wanted(check: CheckResult, { answer, correctness }: QueryResult): Wanted {
  const key = check.id.slice(check.id.lastIndexOf('.') + 1);
  const terms = check.id === `correctness.${key}` ? termsOf(correctness.details[key]) : [];
  if (terms.length > 0 && Object.hasOwn(TERM_LISTS, key)) {
    const found = answer === null ? undefined : foundTerms(answer, terms, check.value);
    const isMet = (term: string) =>
      found === undefined ? undefined : found.has(term) !== (key === 'not_in_answer');
    return {
      check,
      words: TERM_LISTS[key]!,
      terms: terms.map((text) => ({ text, isMet: isMet(text) })),
    };
  }
  if (check.wanted !== undefined) return { check, words: check.wanted };
  if (Object.hasOwn(TEXTS, key) && typeof check.limit === 'string')
    return { check, words: TEXTS[key]!, limit: check.limit };
  const at = /\.turn\[(\d+)\]\./.exec(check.id);
  // Passed checks, and results of older versions: their message contains value and limit.
  return {
    check,
    words: `${nameOf(key)}${at === null ? '' : ` in turn ${at[1]}`}`,
    limit: check.message,
  };
}

const nameOf = (key: string): string => {
  const words = key.replaceAll('_', ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};
