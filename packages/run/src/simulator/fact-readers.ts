import { DAY_WORDS, dates, dayOf, isVerb, MONTH, monthOf, times } from './fact-times.ts';
import { letterIdsIn } from './letter-ids.ts';
import { AMOUNT, amountValues, SCALE, shifted } from './number-values.ts';
import { NUMBER_WORDS, numberWordValues, readNumberWords } from './number-words.ts';
import { MIN_LOCAL } from './phone-forms.ts';

/**
 * A number, date, time, phone or card number, e-mail address or id in a text, with all its
 * readings.
 */
export interface Fact {
  readonly shown: string;
  readonly at: number;
  readonly end: number;
  /** `letters`: a reference without a digit. */
  readonly kind: 'email' | 'date' | 'time' | 'digits' | 'id' | 'letters' | 'number';
  readonly values: readonly string[];
  /** It begins with `+` or `00`, like a phone number with a country code. */
  readonly isInternational: boolean;
}

const DAY = '(\\d{1,2})(?:st|nd|rd|th)?';
const UNIT =
  '(?:kg|g|mg|lbs?|oz|cm|mm|m|km|kmh|mph|kwh|in|inch|ft|gb|mb|tb|w|v|h|hrs?|hours?|min|mins|s|secs?|d|days?|nights?|yrs?|years?|x|pcs|px|usd|eur|gbp|chf|inr|jpy|cad|aud)(?![\\p{L}\\d])';
const CURRENCY = '(?:usd|eur|gbp|chf|inr|jpy|cad|aud|nok|sek|dkk|pln|rs\\.?)';

type Read = (match: RegExpExecArray) => readonly string[] | undefined;
interface Reader {
  readonly kind: Fact['kind'];
  readonly pattern: RegExp;
  readonly read: Read;
}

/** In order of priority. Matched text is not read again. */
const READERS: readonly Reader[] = [
  {
    kind: 'email',
    pattern:
      /(?<![\p{L}\d._%+-])[\p{L}\d._%+-]{1,64}@[\p{L}\d-]{1,64}(?:\.[\p{L}\d-]{1,64}){1,5}/gu,
    read: ([mail]) => [mail.toLowerCase()],
  },
  // Phrases, not numbers.
  { kind: 'number', pattern: /\b(?:24\/7|50\/50)\b/g, read: () => undefined },
  {
    kind: 'date',
    pattern: /(?<![\d.])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/g,
    read: ([, y, m, d]) => dates(y, m, d),
  },
  {
    kind: 'date',
    pattern: /(?<![\d./-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\d-]|\.\d)/g,
    read: ([, a, , b, y]) => [...(dates(y, a, b) ?? []), ...(dates(y, b, a) ?? [])],
  },
  {
    kind: 'date',
    pattern: /(?<![\d./-])(\d{1,2})\/(\d{1,2})(?![\d/-])/g,
    read: ([, a, b]) => [...(dates(undefined, a, b) ?? []), ...(dates(undefined, b, a) ?? [])],
  },
  {
    kind: 'date',
    pattern: new RegExp(
      `(?<![\\p{L}\\d])${MONTH}\\s+${DAY}(?:,?\\s+(\\d{4}))?(?![\\p{L}\\d:])`,
      'giu',
    ),
    read: ([, month, d, y]) => dates(y, monthOf(month), d),
  },
  {
    kind: 'date',
    pattern: new RegExp(
      `(?<![\\p{L}\\d])${DAY}\\s+(?:of\\s+)?${MONTH}(?:,?\\s+(\\d{4}))?(?![\\p{L}\\d])`,
      'giu',
    ),
    read: ([, d, month, y]) => dates(y, monthOf(month), d),
  },
  {
    kind: 'date',
    pattern: new RegExp(
      `(?<![\\p{L}\\d])${MONTH}\\s+(the\\s+)?${DAY_WORDS}(?:,?\\s+(\\d{4}))?(?!\\d)`,
      'giu',
    ),
    read: ([, month, the, d, y]) =>
      the === undefined && isVerb(month) ? undefined : dates(y, monthOf(month), dayOf(d)),
  },
  {
    kind: 'date',
    pattern: new RegExp(
      `(?<![\\p{L}\\d-])${DAY_WORDS}\\s+(of\\s+)?${MONTH}(?:,?\\s+(\\d{4}))?(?![\\p{L}\\d])`,
      'giu',
    ),
    read: ([, d, of, month, y]) =>
      of === undefined && isVerb(month?.toLowerCase())
        ? undefined
        : dates(y, monthOf(month), dayOf(d)),
  },
  {
    kind: 'date',
    pattern: new RegExp(`(?<![\\p{L}\\d])${MONTH}\\s+(\\d{4})(?![\\p{L}\\d])`, 'giu'),
    read: ([, month, y]) => [`${y}-${monthOf(month)}-`],
  },
  {
    kind: 'time',
    pattern: /(?<![\d:.])(\d{1,2})(?:[:.](\d{2})(?::\d{2})?)?\s*([ap])\.?m\b\.?/gi,
    read: ([, h, min, half]) => times(h, Number(min ?? 0), half),
  },
  {
    kind: 'time',
    pattern:
      /(?<![\d:.])(\d{1,2})[:.](\d{2})\s?(?:uhr|hrs|h)(?![\p{L}\d])|(?<![\p{L}\d:.])(\d{1,2})h(\d{2})(?![\p{L}\d])/giu,
    read: ([, h, min, french, after]) => times(h ?? french, Number(min ?? after)),
  },
  {
    kind: 'time',
    pattern:
      /(?<![\p{L}\d:.])(?:(\d{1,2})\s?uhr|([01]\d|2[0-3])([0-5]\d)\s?(?:hours|hrs|h))(?![\p{L}\d])/giu,
    read: ([, german, h, min]) => times(german ?? h, Number(min ?? 0)),
  },
  {
    kind: 'time',
    pattern: /(?<![\d:.])(\d{1,2}):(\d{2})(?::\d{2})?(?![\d:])/g,
    read: ([, h, min]) => times(h, Number(min)),
  },
  {
    kind: 'time',
    pattern: new RegExp(
      `\\b(half past|quarter past|quarter to)\\s+(${NUMBER_WORDS}|\\d{1,2})`,
      'giu',
    ),
    read: ([, part, hour]) => {
      const h = numberIn(hour);
      return part!.toLowerCase() === 'quarter to'
        ? times(String(Number(h) - 1), 45)
        : times(h, part!.startsWith('h') ? 30 : 15);
    },
  },
  {
    kind: 'time',
    pattern: new RegExp(`(?<![\\p{L}\\d])(${NUMBER_WORDS}|\\d{1,2})\\s*o['’]clock`, 'giu'),
    read: ([, hour]) => times(numberIn(hour), 0),
  },
  {
    // An amount with cents.
    kind: 'number',
    pattern:
      /(?<![\p{L}\d.,])(\d{1,9})(?:\s?(?:dollars?|bucks|euros?|pounds?|eur|usd|[€$£]))?\s(?:and\s)?(\d{1,2})\s?(?:cents?|pence|ct)\b|(?<![\p{L}\d.,])(\d{1,9})[€$£](\d{2})(?!\d)/giu,
    read: ([, a, b, whole = a, cents = b]) => amountValues(`${whole}.${cents!.padStart(2, '0')}`),
  },
  {
    // Spelled letter by letter.
    kind: 'id',
    pattern:
      /(?<![\p{L}\d.,'’-])(?=[\p{L}\d -]{0,40}\d)[\p{L}\d](?:[ -][\p{L}\d]){3,20}(?![\p{L}\d'’]|[.,:/-]\d)/gu,
    read: ([text]) => [text.replace(/[ -]/g, '').toLowerCase()],
  },
  {
    // A bank account number in groups.
    kind: 'id',
    pattern: /(?<![\p{L}\d])[a-z]{2}\d{2}(?: [a-z\d]{4}){2,7}(?: [a-z\d]{1,3})?(?![\p{L}\d])/giu,
    read: ([text]) => (/\d{4}/.test(text) ? [text.replace(/ /g, '').toLowerCase()] : undefined),
  },
  {
    kind: 'digits',
    pattern:
      /(?<![\p{L}\d#./-])\+?\(?\d{1,6}\)?(?:[ -]{0,2}\(0\)(?=[ -]?\d))?(?:(?:(?:[ -]{1,2}|\/|(?<=\)))\(?\d{2,8}\)?){1,8}|(?:\.\d{2,8}){2,8})(?![\p{L}\d]|[.,/-]\d)/gu,
    read: ([text]) => {
      const digits = (/^(?:\+|00)/.test(text) ? text.replace('(0)', '') : text).replace(/\D/g, '');
      if (digits.length < MIN_LOCAL || digits.length > 24) return undefined;
      // A postal code may be given without its extension.
      return /^\d{5}-\d{4}$/.test(text) ? [digits, digits.slice(0, 5)] : [digits];
    },
  },
  {
    // A version or an IP address: `1.2.3`. Groups of three digits are an amount.
    kind: 'id',
    pattern: /(?<![\p{L}\d.])\d{1,5}(?:\.\d{1,5}){2,6}(?![\p{L}\d]|\.\d)/gu,
    read: ([text]) => (/^\d{1,3}(?:\.\d{3})+$/.test(text) ? undefined : [text]),
  },
  {
    kind: 'number',
    pattern: new RegExp(
      `(?:(?<![\\p{L}\\d])|(?<=(?<![\\p{L}\\d])${CURRENCY}))(?:(${AMOUNT})(?:[ -]?(${SCALE})(?![\\p{L}\\d])|\\s?(%|percent\\b)|(?=\\s?${UNIT}|(?:st|nd|rd|th)(?!\\p{L})))|(?<!-)\\d{1,2}(?=-\\p{L}{2,}))`,
      'giu',
    ),
    read: ([text, amount, scale, percent]) => {
      const values = amountValues(amount ?? text, scale);
      return percent === undefined
        ? values
        : [...values, ...values.map((value) => shifted(value, -2))];
    },
  },
  {
    kind: 'number',
    pattern: new RegExp(`(?<=(?<![\\p{L}\\d])${CURRENCY})${AMOUNT}(?![\\p{L}\\d])`, 'giu'),
    read: ([text]) => amountValues(text),
  },
  {
    kind: 'id',
    pattern:
      /(?<![\p{L}\d])(?=[\p{L}\d._/#:-]{0,80}\d)(?=[\p{L}\d._/#:-]{0,80}[\p{L}_/#:-])[\p{L}\d][\p{L}\d._/#:-]{0,80}[\p{L}\d]/gu,
    read: ([text]) => (/^\d+$/.test(text) ? undefined : [text]),
  },
  {
    kind: 'number',
    pattern: new RegExp(`(?<![\\p{L}\\d.])${AMOUNT}(?![\\p{L}\\d])`, 'gu'),
    read: ([text]) => amountValues(text),
  },
  {
    kind: 'number',
    pattern: new RegExp(`(?<![\\p{L}\\d-])${NUMBER_WORDS}`, 'giu'),
    read: ([text]) => numberWordValues(text),
  },
];

/** The facts of a text, in order. */
export function factsIn(text: string): Fact[] {
  const facts: Fact[] = letterIdsIn(text).map(({ shown, at }) => ({
    shown,
    at,
    end: at + shown.length,
    kind: 'letters',
    values: [shown],
    isInternational: false,
  }));
  let rest = text;
  for (const { kind, pattern, read } of READERS)
    rest = rest.replace(pattern, (...groups) => {
      const end = groups.findLastIndex((each) => typeof each === 'number');
      const [shown] = groups as string[];
      const values = read(groups.slice(0, end) as unknown as RegExpExecArray);
      // An impossible date is read as something else.
      if (values === undefined && kind !== 'number') return shown!;
      const at = groups[end] as number;
      const isInternational = /^(?:\+|\(?00)/.test(shown!) || text[at - 1] === '+';
      if (values !== undefined && values.length > 0)
        facts.push({ shown: shown!, at, end: at + shown!.length, kind, values, isInternational });
      return ' '.repeat(shown!.length);
    });
  return facts.sort((a, b) => a.at - b.at);
}

const numberIn = (text: string | undefined): string =>
  text === undefined || /^\d/.test(text) ? (text ?? '') : readNumberWords(text);
