import type { PiiSpan } from './pii.ts';

const PHONE = /(?<![\p{L}\p{N}_])\+[1-9][\d ().-]{5,20}\d/gu;
const IBAN = /(?<![\p{L}\p{N}_])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{1,4}){3,8}(?![\p{L}\p{N}_])/giu;
/** E.164 limits: the longest number, and the shortest in use, with country code. */
const MAX_DIGITS = 15;
const MIN_DIGITS = 7;

/** Length of account numbers by country (ISO 13616 register). */
const LENGTHS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    15: 'NO',
    16: 'BE',
    18: 'AX DK FI FK FO GL NL SD',
    19: 'MK SI',
    20: 'AT BA EE KZ LT LU MN XK',
    21: 'CH HR LI LV',
    22: 'BG BH CR DE GB GE IE ME RS VA',
    23: 'AE GI IL IQ OM SO TL',
    24: 'AD CZ ES MD PK RO SA SE SK TN VG',
    25: 'AO CV GW LY MZ PT ST',
    26: 'DZ IR IS TR',
    27: 'BI BL CF CG CM DJ FR GA GF GP GQ GR IT KM MC MF MG MQ MR NC PF PM RE SM TD TF WF YT',
    28: 'AL AZ BF BJ BY CI CY DO GT HN HU LB MA ML NE NI PL SN SV TG',
    29: 'BR EG PS QA UA',
    30: 'JO KW MU YE',
    31: 'MT SC',
    32: 'LC',
    33: 'RU',
  }).flatMap(([length, countries]) =>
    countries.split(' ').map((country) => [country, Number(length)] as const),
  ),
);

/**
 * Phone numbers with country code, and bank accounts: everything that the libraries
 * (`pii-libraries.ts`) find, without loading them. May accept near misses that a library rejects.
 */
export function findInternational(text: string): PiiSpan[] {
  return [...phonesIn(text), ...ibansIn(text)];
}

function* phonesIn(text: string): Generator<PiiSpan> {
  for (const { 0: match, index } of text.matchAll(PHONE)) {
    const digits = match.replace(/\D/g, '').length;
    if (digits < MIN_DIGITS || digits > MAX_DIGITS) continue;
    yield { type: 'phone', start: index, end: index + match.length, confidence: 0.9 };
  }
}

function* ibansIn(text: string): Generator<PiiSpan> {
  for (const { 0: match, index } of text.matchAll(IBAN)) {
    const length = LENGTHS.get(match.slice(0, 2).toUpperCase());
    if (length === undefined) continue;
    // Bounds the search, because words after the number look like more of it.
    let end = 0;
    let account = '';
    while (end < match.length && account.length < length) {
      const character = match[end++]!;
      if (character !== ' ' && character !== '-') account += character;
    }
    if (account.length === length && hasCheckDigits(account.toUpperCase()))
      yield { type: 'iban', start: index, end: index + end, confidence: 0.95 };
  }
}

/**
 * ISO 7064: with the first four characters moved to the end and letters as two digits, the number
 * modulo 97 is 1.
 */
function hasCheckDigits(account: string): boolean {
  let rest = 0;
  for (const character of account.slice(4) + account.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
