import { type Fact, factsIn } from './fact-readers.ts';

/** Counted things: the numbers before each noun. */
export type Counts = ReadonlyMap<string, ReadonlySet<string>>;

/** Words that make a number a name: `order 4`. */
const LABELLED =
  /(?:\b(?:order|ticket|account|acct|number|no|nr|id|code|pin|case|invoice|booking|reservation|room|seat|gate|flight|table|apartment|apt|customer|reference|ref|card|policy|contract)s?\b[\s.:#-]*(?:\b(?:number|no|nr|id|is|was|ends? (?:in|with))\b[\s.:#-]*)*|#\s*)$/i;
/** Nouns that are counted in any conversation. */
const TALK =
  /^\s*(?:more|other|others|things?|questions?|minutes?|mins?|seconds?|moments?|times?|digits?|characters?|letters?|stars?|of (?:you|us))\b/i;
/** Figures of speech: "a hundred percent", "thanks a million". */
const FIGURE = /^(?:half )?a[ -]/i;
const FIGURATIVE =
  /^[\s-]*(?:percent|thanks|apologies|years?|reasons?|ways?|emails?|e-mails?|calls?|messages?|people|places)\b/i;
const MONEY =
  /^[\s-]*(?:dollars?|bucks|euros?|pounds?|quid|rupees?|francs?|usd|eur|gbp|inr|chf)\b/i;
/** Counts up to this are everyday language. */
export const SMALL = 3;

/**
 * Small counts and numbers in phrases are everyday language, unless the brief has another count.
 */
export function isEveryday(
  { values, at, end, shown }: Fact,
  said: string,
  counts: Counts,
): boolean {
  const before = said.slice(Math.max(0, at - 40), at);
  const after = said.slice(end);
  if (LABELLED.test(before) && shown.toLowerCase() !== 'one') return false;
  if (LABELLED.test(before)) return !/^\s*(?:[.,!?]|$)/.test(after);
  if (/^\d+\s*%/.test(said.slice(at)) && shown === '100') return true;
  if (
    FIGURE.test(shown) &&
    (FIGURATIVE.test(after) || /\b(?:thanks|one in|not in|never in) $/i.test(before))
  )
    return true;
  if (/^a[ -](?:million|billion)$/i.test(shown) && !MONEY.test(after)) return true;
  if (TALK.test(after) || /\b(?:last|first) $/i.test(before)) return true;
  if (!values.every((value) => Number(value) <= SMALL && Number.isInteger(Number(value))))
    return false;
  if (/[.,]\d/.test(shown)) return false;
  const noun = nounAfter(after);
  const known = noun === undefined ? undefined : counts.get(noun);
  return (
    shown.toLowerCase() === 'one' || known === undefined || values.some((value) => known.has(value))
  );
}

/** The counted things in the known texts. */
export function countsIn(texts: readonly string[]): Counts {
  const counts = new Map<string, Set<string>>();
  for (const text of texts)
    for (const { kind, values, end } of factsIn(text)) {
      const noun = kind === 'number' ? nounAfter(text.slice(end)) : undefined;
      if (noun === undefined) continue;
      const own = counts.get(noun) ?? new Set();
      for (const value of values) own.add(value);
      counts.set(noun, own);
    }
  return counts;
}

const nounAfter = (text: string): string | undefined =>
  /^\s+(?:\p{L}+\s+)?(\p{L}{3,})/u.exec(text)?.[1]?.toLowerCase().replace(/s$/, '');
