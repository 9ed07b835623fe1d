const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** The name of a month, as a part of a regular expression. */
export const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\b\\.?';

export const monthOf = (name: string | undefined): string =>
  String(MONTHS.indexOf((name ?? '').slice(0, 3).toLowerCase()) + 1).padStart(2, '0');

const ORDINALS = [
  'first',
  'second',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
  'ninth',
  'tenth',
  'eleventh',
  'twelfth',
  'thirteenth',
  'fourteenth',
  'fifteenth',
  'sixteenth',
  'seventeenth',
  'eighteenth',
  'nineteenth',
  'twentieth',
];
const DAYS: ReadonlyMap<string, number> = new Map([
  ...ORDINALS.map((word, i) => [word, i + 1] as const),
  ...ORDINALS.slice(0, 9).map((word, i) => [`twenty ${word}`, 21 + i] as const),
  ['thirtieth', 30],
  ['thirty first', 31],
]);

/** The day of a month in words, as a part of a regular expression: `fifth`, `twenty-first`. */
export const DAY_WORDS = `((?:twenty[ -]|thirty[ -])?(?:${[...ORDINALS, 'thirtieth'].join('|')}))(?![\\p{L}-])`;
export const dayOf = (words: string | undefined): string =>
  String(DAYS.get((words ?? '').toLowerCase().replace(/[ -]+/, ' ')) ?? 0);

/**
 * "I may first ask", "we march second": words that are months only with a capital letter, or after
 * "of".
 */
export const isVerb = (month: string | undefined): boolean => /^(?:may|march)$/.test(month ?? '');

/** `2024-05-01`. A missing part is empty. */
export function dates(
  y: string | undefined,
  m: string | undefined,
  d: string | undefined,
): readonly string[] | undefined {
  const [month, day] = [Number(m), Number(d)];
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= 31)) return undefined;
  const rest = `${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
  let years: string[];
  if (y === undefined) years = [''];
  else if (y.length === 2) years = [`20${y}`, `19${y}`];
  else years = [y];
  return years.map((year) => `${year}-${rest}`);
}

/** `15:30`. Without "am" or "pm" a time before 1 pm is ambiguous, unless it has a leading zero. */
export function times(
  hour: string | undefined,
  min: number,
  half?: string,
): readonly string[] | undefined {
  const h = Number(hour);
  if (!(h >= 0 && h <= 24 && min < 60)) return undefined;
  const isExact = h > 12 || /^0/.test(hour ?? '');
  let hours: number[];
  if (half === undefined) hours = isExact ? [h % 24] : [h % 12, (h % 12) + 12];
  else hours = [(h % 12) + (/p/i.test(half) ? 12 : 0)];
  return hours.map((each) => `${each}:${min}`);
}

/** Number of days between two dates. Undefined if a part is missing. */
export function daysBetween(a: string, b: string): number | undefined {
  const [from, to] = [stampOf(a), stampOf(b)];
  return from === undefined || to === undefined ? undefined : Math.round((to - from) / DAY_MS);
}

/** The date this many days later. Keeps a missing year. */
export function addDays(date: string, days: number): string | undefined {
  const hasYear = !date.startsWith('-');
  const stamp = stampOf(hasYear ? date : `2023${date}`);
  if (stamp === undefined) return undefined;
  const later = new Date(stamp + days * DAY_MS).toISOString().slice(0, 10);
  return hasYear ? later : later.slice(4);
}

const DAY_MS = 86_400_000;
function stampOf(date: string): number | undefined {
  const stamp = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(stamp) ? undefined : stamp;
}
