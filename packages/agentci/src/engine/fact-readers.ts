import { NUMBER_WORDS, readNumberWords } from './number-words.ts';

/** A number, date, time, phone or card number, e-mail address or id in a text, by all the ways it can be read. */
export interface Fact {
  readonly shown: string;
  readonly at: number;
  readonly end: number;
  readonly kind: 'email' | 'date' | 'time' | 'digits' | 'id' | 'number';
  readonly values: readonly string[];
}

/** So many digits in groups are a phone, card or account number. */
export const MIN_LOCAL = 7;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\b\\.?';
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?';
const UNIT =
  '(?:kg|g|mg|lbs?|oz|cm|mm|m|km|in|ft|gb|mb|tb|w|v|h|hrs?|hours?|min|mins|s|secs?|x|usd|eur|gbp|k)(?![\\p{L}\\d])';

type Read = (match: RegExpExecArray) => readonly string[] | undefined;
interface Reader {
  readonly kind: Fact['kind'];
  readonly pattern: RegExp;
  readonly read: Read;
}

/** What is found first is not read in another way. */
const READERS: readonly Reader[] = [
  {
    kind: 'email',
    pattern: /(?<![\p{L}\d._%+-])[\p{L}\d._%+-]{1,64}@[\p{L}\d-]{1,64}(?:\.[\p{L}\d-]{1,64}){1,5}/gu,
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
    pattern: new RegExp(`(?<![\\p{L}\\d])${MONTH}\\s+${DAY}(?:,?\\s+(\\d{4}))?(?![\\p{L}\\d:])`, 'giu'),
    read: ([, month, d, y]) => dates(y, monthOf(month), d),
  },
  {
    kind: 'date',
    pattern: new RegExp(`(?<![\\p{L}\\d])${DAY}\\s+(?:of\\s+)?${MONTH}(?:,?\\s+(\\d{4}))?(?![\\p{L}\\d])`, 'giu'),
    read: ([, d, month, y]) => dates(y, monthOf(month), d),
  },
  {
    kind: 'date',
    pattern: new RegExp(`(?<![\\p{L}\\d])${MONTH}\\s+(\\d{4})(?![\\p{L}\\d])`, 'giu'),
    read: ([, month, y]) => [`${y}-${monthOf(month)}-`],
  },
  {
    kind: 'time',
    pattern: /(?<![\d:.])(\d{1,2})(?::(\d{2})(?::\d{2})?)?\s*([ap])\.?m\b\.?/gi,
    read: ([, h, min, half]) => times(Number(h), Number(min ?? 0), half),
  },
  {
    kind: 'time',
    pattern: /(?<![\d:.])(\d{1,2}):(\d{2})(?::\d{2})?(?![\d:])/g,
    read: ([, h, min]) => times(Number(h), Number(min)),
  },
  {
    kind: 'time',
    pattern: new RegExp(`\\b(half past|quarter past|quarter to)\\s+(${NUMBER_WORDS}|\\d{1,2})`, 'giu'),
    read: ([, part, hour]) => {
      const h = numberIn(hour);
      return part!.toLowerCase() === 'quarter to' ? times(h - 1, 45) : times(h, part!.startsWith('h') ? 30 : 15);
    },
  },
  {
    kind: 'time',
    pattern: new RegExp(`(?<![\\p{L}\\d])(${NUMBER_WORDS}|\\d{1,2})\\s*o['’]clock`, 'giu'),
    read: ([, hour]) => times(numberIn(hour), 0),
  },
  {
    kind: 'digits',
    pattern:
      /(?<![\p{L}\d#./-])\+?\(?\d{1,6}\)?(?:(?:[ -]{1,2}\(?\d{2,6}\)?){1,8}|(?:\.\d{2,6}){2,8})(?![\p{L}\d]|[.,/-]\d)/gu,
    read: ([text]) => {
      const digits = text.replace(/\D/g, '');
      if (digits.length < MIN_LOCAL || digits.length > 19) return undefined;
      // A postal code may be given without its extension.
      return /^\d{5}-\d{4}$/.test(text) ? [digits, digits.slice(0, 5)] : [digits];
    },
  },
  {
    kind: 'number',
    pattern: new RegExp(
      `(?<![\\p{L}\\d])${amount()}(?=\\s?${UNIT}|(?:st|nd|rd|th)(?!\\p{L}))|(?<![\\p{L}\\d])\\d{1,2}(?=-\\p{L}{2,})`,
      'giu',
    ),
    read: numbers,
  },
  {
    kind: 'id',
    pattern:
      /(?<![\p{L}\d])(?=[\p{L}\d._/#:-]{0,80}\d)(?=[\p{L}\d._/#:-]{0,80}[\p{L}_/#:-])[\p{L}\d][\p{L}\d._/#:-]{0,80}[\p{L}\d]/gu,
    read: ([text]) => ids(text),
  },
  { kind: 'number', pattern: new RegExp(`(?<![\\p{L}\\d.])${amount()}(?![\\p{L}\\d])`, 'gu'), read: numbers },
  {
    kind: 'number',
    pattern: new RegExp(`(?<![\\p{L}\\d-])${NUMBER_WORDS}`, 'giu'),
    read: ([text]) => readNumberWords(text).map(String),
  },
];

/** The facts of a text, in order. */
export function factsIn(text: string): Fact[] {
  const facts: Fact[] = [];
  let rest = text;
  for (const { kind, pattern, read } of READERS)
    rest = rest.replace(pattern, (...groups) => {
      const end = groups.findLastIndex((each) => typeof each === 'number');
      const [shown] = groups as string[];
      const values = read(groups.slice(0, end) as unknown as RegExpExecArray);
      // A date that cannot be is read as something else.
      if (values === undefined && kind !== 'number') return shown!;
      const at = groups[end] as number;
      if (values !== undefined && values.length > 0)
        facts.push({ shown: shown!, at, end: at + shown!.length, kind, values });
      return ' '.repeat(shown!.length);
    });
  return facts.sort((a, b) => a.at - b.at);
}

const monthOf = (name: string | undefined): string =>
  String(MONTHS.indexOf((name ?? '').slice(0, 3).toLowerCase()) + 1).padStart(2, '0');

function dates(y: string | undefined, m: string | undefined, d: string | undefined): readonly string[] | undefined {
  const [month, day] = [Number(m), Number(d)];
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= 31)) return undefined;
  const rest = `${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
  const years = y === undefined ? [''] : y.length === 2 ? [`20${y}`, `19${y}`] : [y];
  return years.map((year) => `${year}-${rest}`);
}

/** Without "am" or "pm" a time before one o'clock in the afternoon may be either. */
function times(h: number, min: number, half?: string): readonly string[] | undefined {
  if (!(h >= 0 && h <= 24 && min < 60)) return undefined;
  const hours =
    half === undefined ? (h <= 12 ? [h % 12, (h % 12) + 12] : [h % 24]) : [(h % 12) + (/p/i.test(half) ? 12 : 0)];
  return hours.map((hour) => `${hour}:${min}`);
}

function numberIn(text: string | undefined): number {
  if (text === undefined) return Number.NaN;
  return /^\d/.test(text) ? Number(text) : (readNumberWords(text)[0] ?? Number.NaN);
}

/** An amount with or without groups of three and decimals, in either way of writing. */
function amount(): string {
  return "(?:\\d{1,3}(?:[.,' ]\\d{3}){1,8}(?:[.,]\\d{1,2})?(?!\\d)|\\d{1,40}(?:[.,]\\d{1,40})?)";
}

function numbers([text]: RegExpExecArray): readonly string[] {
  const plain = text.replace(/[' ]/g, '');
  // With zeros before it, it is a code.
  if (/^0\d+$/.test(plain)) return [plain];
  const readings = [plain.replace(/,/g, ''), plain.replace(/\./g, '').replace(',', '.')].map(Number);
  return [...new Set([...readings.filter(Number.isFinite).map(String), ...(/^\d+$/.test(plain) ? [plain] : [])])];
}

/** `order-42`, `order#42` and `42` are one, and so are `AB-12` and `ab12`. */
function ids(text: string): readonly string[] {
  const plain = text.toLowerCase();
  const bare = plain.replace(/[._/#:-]/g, '');
  const unlabelled = plain.replace(/^\p{L}+[._/#:-]+/u, '').replace(/[._/#:-]/g, '');
  return [...new Set([bare, unlabelled])];
}
