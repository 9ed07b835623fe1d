/** A reference made of letters alone, such as a booking code. */
export interface LetterId {
  readonly shown: string;
  readonly at: number;
}

const MIN_LETTERS = 5;
const MIN_LABELLED = 4;
const MAX_LETTERS = 24;

const CAPITALS =
  /(?<![\p{L}\d'’.@/_-])[A-Z]{2,24}(?:[-_/][A-Z]{1,12}){0,4}(?![\p{L}\d'’]|[-_.@/][\p{L}\d])|(?<![\p{L}\d])[A-Z](?:[ -][A-Z]){4,11}(?![\p{L}\d])/gu;
/** After a label a code may be lower-case. */
const LABELLED =
  /\b(?:references?|ref|codes?|locator|pnr|serial|voucher|coupon|booking|reservation|confirmation|tracking|ticket|order|case|id)\b[\s.:#=-]{0,4}(?:\b(?:number|no|nr|id|code|reference|is|was)\b[\s.:#=-]{0,4}){0,3}([\p{L}]{2,24}(?:[-_/][\p{L}]{1,12}){0,4})(?![\p{L}\d'’]|[-_.@/][\p{L}\d])/giu;
/** `code: TABOSE`: the text after the sign is the code, even if it is pronounceable. */
const GIVEN = /(?:[:=]\s*|(?<!#)#\s?)$/;

/**
 * The letter-only references in a text: those unlike any word, and those in capitals after `code:`.
 */
export function letterIdsIn(text: string): LetterId[] {
  const found = new Map<number, LetterId>();
  for (const { 0: whole, 1: shown = '', index } of text.matchAll(LABELLED)) {
    const at = index + whole.length - shown.length;
    const isGiven =
      GIVEN.test(text.slice(Math.max(0, at - 4), at)) && /^[A-Z]/.test(shown) && isCapital(shown);
    if (lettersOf(shown).length >= MIN_LABELLED && (isGiven || isNoWord(shown)))
      found.set(at, { shown, at });
  }
  for (const { 0: shown, index: at } of text.matchAll(CAPITALS))
    if (lettersOf(shown).length >= MIN_LETTERS && isNoWord(shown)) found.set(at, { shown, at });
  return [...found.values()].filter(({ shown }) => lettersOf(shown).length <= MAX_LETTERS);
}

/** The letters of a reference for comparison: `ABC-DE` as `abcde`. */
export const lettersOf = (id: string): string => id.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

const isCapital = (text: string): boolean => text === text.toUpperCase();

/** Common abbreviations without a vowel. */
const KNOWN: ReadonlySet<string> = new Set([
  'https',
  'xbox',
  'xhtml',
  'html',
  'hsbc',
  'gmbh',
  'mysql',
  'psst',
  'nvm',
  'btw',
]);
/** Consonant groups that do not occur in English words. */
const UNHEARD =
  /[jqv][bcdfghjkmnpqstvxz]|[bcdfghjkmpqtvz]x|x[bdgjkmqvxz]|z[bcdfgjkpqstvx]|(?:(?![lrsnmhwyt])[b-df-hj-np-tv-xz]){3}/;
const LONG_RUN = /[b-df-hj-np-tv-xz]{5}|^[b-df-hj-np-tv-xz]{4}/;
/** Consonant groups that make a long cluster pronounceable. */
const JOINTS = /ck|ght|ngth|phr|phth|sch|scr|spr|str|tch|thr/;

/** Whether a part of a text is not a word: it has no vowel, or an unpronounceable cluster. */
function isNoWord(text: string): boolean {
  const parts = / |(?:^|-)[A-Z]-[A-Z](?:-|$)/.test(text)
    ? [lettersOf(text)]
    : text.toLowerCase().split(/[-_/]/);
  return parts.some((part) => {
    if (part.length < MIN_LABELLED || KNOWN.has(part) || /(.)\1\1/.test(part)) return false;
    if (!/[aeiouy]/.test(part)) return /^[a-z]+$/.test(part);
    return UNHEARD.test(part.replaceAll('ck', 'k')) || (LONG_RUN.test(part) && !JOINTS.test(part));
  });
}
