import { plainText } from '../text/plain-text.ts';

/** Types of personal data. */
export const PII_TYPES = [
  'email',
  'phone',
  'ssn',
  'credit_card',
  'name',
  'address',
  'iban',
  'ip_address',
  'api_key',
] as const;
export type PiiType = (typeof PII_TYPES)[number];

/** Possible personal data in a text, with its confidence. */
export interface PiiSpan {
  readonly type: PiiType;
  readonly start: number;
  readonly end: number;
  /** 0 to 1. */
  readonly confidence: number;
}

interface Detector {
  readonly type: PiiType;
  readonly confidence: number;
  /** Every quantifier is bounded, so that time grows linearly with the text. */
  readonly pattern: RegExp;
  readonly accepts?: (match: string) => boolean;
}

const START = '(?<![\\p{L}\\p{N}_])';
const END = '(?![\\p{L}\\p{N}_])';
const between = (body: string): RegExp => new RegExp(`${START}(?:${body})${END}`, 'gu');

const STREET_WORDS =
  'St|Street|Ave|Avenue|Rd|Road|Blvd|Boulevard|Ln|Lane|Dr|Drive|Ct|Court|Pl|Place|Sq|Square|Ter|Terrace|Way|Pkwy|Parkway|Hwy|Highway';

/** Words that start a sentence but not a name. */
const NOT_A_NAME =
  'A|An|And|As|At|But|By|Call|Contact|Dear|For|From|He|Hello|Her|Hi|His|How|If|In|Is|It|Its|My|No|Not|Of|On|Or|Our|Please|See|She|So|That|The|Their|Then|There|These|They|This|To|Via|We|What|When|Where|Who|Why|With|Yes|You|Your';

/** Keys of providers, clouds and code hosts, by form. Use with `matchAll`. */
export const API_KEY = between(
  'sk-[A-Za-z0-9_-]{16,200}|gh[pousr]_[A-Za-z0-9]{30,100}|github_pat_[A-Za-z0-9_]{22,100}|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,100}|hf_[A-Za-z0-9]{30,60}|npm_[A-Za-z0-9]{36}|A(?:KI|SI)A[0-9A-Z]{16}|eyJ[\\w-]{10,2000}\\.eyJ[\\w-]{10,4000}\\.[\\w-]{10,1000}|AIza[0-9A-Za-z_-]{35}|xox[abprs]-[A-Za-z0-9-]{10,100}|glpat-[A-Za-z0-9_-]{20,60}',
);

/**
 * In order of reliability: later detectors skip ranges of earlier ones, so a range is one
 * detection.
 */
const DETECTORS: readonly Detector[] = [
  {
    type: 'api_key',
    confidence: 0.95,
    pattern: API_KEY,
  },
  {
    type: 'email',
    confidence: 0.95,
    pattern: between(
      '[\\p{L}\\p{N}._%+-]{1,64}@[\\p{L}\\p{N}-]{1,63}(?:\\.[\\p{L}\\p{N}-]{1,63}){0,8}\\.\\p{L}{2,24}',
    ),
  },
  {
    type: 'credit_card',
    confidence: 0.85,
    pattern: new RegExp(`${START}(?:\\d(?:[ -]?\\d){12,18}|\\d{4}(?:\\.\\d{4}){3})${END}`, 'gu'),
    accepts: (match) => passesLuhn(match),
  },
  {
    // A mistyped card number is still someone's card: 16 digits in groups of four or in one run.
    type: 'credit_card',
    confidence: 0.4,
    pattern: between('\\d{4}(?:[ .-]\\d{4}){3}|\\d{16}'),
    accepts: (match) => !passesLuhn(match) && !/^0+$/.test(match.replace(/\D/g, '')),
  },
  { type: 'ssn', confidence: 0.98, pattern: between('\\d{3}-\\d{2}-\\d{4}') },
  {
    type: 'phone',
    confidence: 0.9,
    pattern: new RegExp(
      `(?<![\\p{L}\\p{N}_+])(?:(?:\\+?1[ .-]?)?\\(\\d{3}\\) ?\\d{3}[ .-]?\\d{4}|(?:\\+?1[ .-])?\\d{3}[ .-]?\\d{3}[ .-]?\\d{4}|\\+1\\d{10})${END}`,
      'gu',
    ),
  },
  {
    type: 'ip_address',
    confidence: 0.6,
    pattern: /(?<![\p{L}\p{N}_.])\d{1,3}(?:\.\d{1,3}){3}(?![\p{L}\p{N}_]|\.\d)/gu,
    accepts: (match) => match.split('.').every((part) => Number(part) <= 255 && !/^0\d/.test(part)),
  },
  {
    type: 'ip_address',
    confidence: 0.6,
    pattern:
      /(?<![\p{L}\p{N}_:.])[0-9A-Fa-f]{1,4}(?::{1,2}[0-9A-Fa-f]{1,4}){1,7}(?![\p{L}\p{N}_:])/gu,
    accepts: isIpv6,
  },
  {
    type: 'address',
    confidence: 0.7,
    pattern: between(`\\d{1,6}[A-Za-z]? (?:[\\p{Lu}][\\p{L}'’.-]{0,30} ){1,4}(?:${STREET_WORDS})`),
  },
  {
    type: 'name',
    confidence: 0.6,
    pattern: between(`(?!(?:${NOT_A_NAME}) )\\p{Lu}\\p{Ll}{1,40} \\p{Lu}\\p{Ll}{1,40}`),
  },
];

export interface PiiOptions {
  /** `pattern`: two capitalized words. `off`: no names. */
  readonly names?: 'pattern' | 'off';
  /** Ranges found by other means, which take precedence. */
  readonly known?: readonly PiiSpan[];
}

/** Personal data in a text, ordered by type and position. */
export function findPii(text: string, options: PiiOptions = {}): PiiSpan[] {
  const plain = plainText(text);
  if (plain === undefined) return findIn(text, options);
  const known = (options.known ?? []).map((span) => ({ ...span, ...plain.placeOf(span) }));
  return findIn(plain.text, { ...options, known }).map((span) => ({
    ...span,
    ...plain.sourceOf(span),
  }));
}

function findIn(text: string, { names = 'pattern', known = [] }: PiiOptions): PiiSpan[] {
  const found: PiiSpan[] = [...known];
  const taken = new Uint8Array(text.length);
  for (const { start, end } of known) taken.fill(1, start, end);
  for (const { type, confidence, pattern, accepts } of DETECTORS) {
    if (type === 'name' && names === 'off') continue;
    for (const match of text.matchAll(pattern)) {
      const span = { type, start: match.index, end: match.index + match[0].length, confidence };
      if (accepts?.(match[0]) === false || taken.subarray(span.start, span.end).includes(1))
        continue;
      taken.fill(1, span.start, span.end);
      found.push(span);
    }
  }
  const rank = (span: PiiSpan): number => PII_TYPES.indexOf(span.type);
  return found.sort((a, b) => rank(a) - rank(b) || a.start - b.start);
}

/** Eight groups, or fewer with one gap. Times have no gap, and names such as `ab::cd` no digit. */
function isIpv6(text: string): boolean {
  const gaps = text.split('::').length - 1;
  const groups = text.split(':').filter(Boolean).length;
  return gaps === 0 ? groups === 8 : gaps === 1 && groups < 8 && /\d/.test(text);
}

/** The Luhn check of card numbers, which mistyped cards and order numbers fail. */
export function passesLuhn(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  if (digits.length < 13 || digits.length > 19 || /^0+$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

const FIXED_MASKS: Partial<Record<PiiType, string>> = {
  ssn: '***-**-****',
  credit_card: '****-****-****-****',
  api_key: '********',
};

/** A displayable form: short values vanish, and longer ones keep two characters at each end. */
export function maskPii(value: string, type?: PiiType): string {
  const fixed = type === undefined ? undefined : FIXED_MASKS[type];
  if (fixed !== undefined) return fixed;
  const characters = [...value];
  if (characters.length <= 4) return '*'.repeat(characters.length);
  return `${characters.slice(0, 2).join('')}${'*'.repeat(characters.length - 4)}${characters.slice(-2).join('')}`;
}
