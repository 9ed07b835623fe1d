import type { Fact } from './fact-readers.ts';
import { addDays, daysBetween } from './fact-times.ts';
import { NUMBER_WORDS, readNumberWords } from './number-words.ts';

const COUNT = `(an?|${NUMBER_WORDS}|\\d{1,3})`;
const SPAN = new RegExp(
  `(?<![\\p{L}\\d])${COUNT}\\s+(minutes?|mins?|hours?|days?|weeks?)\\s+(later|after|afterwards|earlier|before|prior|sooner)\\b`,
  'giu',
);
const MINUTES: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1440, w: 10_080 };
/** Phrases for a day relative to another, as an offset in minutes. */
const PHRASES: readonly (readonly [RegExp, number])[] = [
  [/\b(?:next|following) day\b|\bday after\b(?! tomorrow)/i, 1440],
  [/\b(?:previous|prior|preceding) day\b|\bday before\b(?! yesterday)/i, -1440],
  [/\b(?:next|following) week\b|\bweek after\b/i, 10_080],
  [/\b(?:previous|last|prior) week\b|\bweek before\b/i, -10_080],
];
/** Valid only if the texts give the current day. */
const TODAY: readonly (readonly [RegExp, number])[] = [
  [/\bday after tomorrow\b/i, 2880],
  [/(?<!day after )\btomorrow\b/i, 1440],
  [/(?<!day before )\byesterday\b/i, -1440],
];

/** Fixed dates, which "the next day" does not refer to. */
const SETTLED = /\b(?:born|birth|birthday|bought|ordered|purchased|paid)\b/i;

/**
 * Dates and times that follow from known ones by phrases such as "the next day" or "an hour
 * earlier".
 */
export function derivedMoments(
  facts: readonly Fact[],
  said: string,
  known: readonly string[],
): Fact[] {
  if (SETTLED.test(said)) return [];
  const texts = [said, ...known];
  const shifts = new Set(texts.flatMap(shiftsIn));
  if (texts.some((text) => /\btoday\b/i.test(text)))
    for (const [phrase, minutes] of TODAY)
      if (texts.some((text) => phrase.test(text))) shifts.add(minutes);
  return [...shifts].flatMap((minutes) =>
    facts.flatMap((fact) => {
      const values = fact.values.flatMap((value) => moved(fact.kind, value, minutes) ?? []);
      return values.length === 0 ? [] : [{ ...fact, values }];
    }),
  );
}

function shiftsIn(text: string): number[] {
  const spans = [...text.matchAll(SPAN)].map(([, count = '', unit = '', way = '']) => {
    const n = /^an?$/i.test(count) ? 1 : Number(/^\d/.test(count) ? count : readNumberWords(count));
    return (/^(?:later|after)/i.test(way) ? n : -n) * MINUTES[unit[0]!.toLowerCase()]!;
  });
  return [
    ...spans,
    ...PHRASES.flatMap(([phrase, minutes]) => (phrase.test(text) ? [minutes] : [])),
  ];
}

function moved(kind: Fact['kind'], value: string, minutes: number): string | undefined {
  if (kind === 'date' && minutes % 1440 === 0) return addDays(value, minutes / 1440);
  if (kind !== 'time' || minutes % 1440 === 0) return undefined;
  const [h = 0, min = 0] = value.split(':').map(Number);
  const at = (((h * 60 + min + minutes) % 1440) + 1440) % 1440;
  return `${Math.floor(at / 60)}:${at % 60}`;
}

const LESS =
  /\b(?:more|less|fewer|too (?:much|many|expensive|high|low|late|early)|over|above|below|under|cheaper|pricier|extra|difference|left|remaining|remainder|saves?|saving|another|short|discount|off|higher|lower|older|younger|apart|minus|back)\b/i;
const TOTAL =
  /\b(?:total|totals|together|altogether|sum|in all|both|combined|plus|overall|all (?:of them|in)|for (?:all|everyone))\b/i;
const SPANS = /^\s*(?:-\s*)?(?:days?|nights?)\b/i;
const MAX_KNOWN = 150;

/**
 * Whether a number follows from two known ones in a message with the matching words: their sum or
 * product ("in total"), their difference ("too much"), or the days between two dates.
 */
export function isDerived(fact: Fact, said: string, facts: readonly Fact[]): boolean {
  const wanted = fact.values.map(Number).filter((value) => Number.isFinite(value) && value > 0);
  const isOne = (value: number): boolean => wanted.some((each) => Math.abs(each - value) < 1e-6);
  if (wanted.length === 0) return false;
  const of = (kind: Fact['kind']): string[] =>
    [...new Set(facts.flatMap((each) => (each.kind === kind ? each.values : [])))].slice(
      -MAX_KNOWN,
    );
  if (SPANS.test(said.slice(fact.end))) {
    const known = of('date');
    if (known.some((a) => known.some((b) => isOne(daysBetween(a, b) ?? -1)))) return true;
  }
  const [isLess, isTotal] = [LESS.test(said), TOTAL.test(said)];
  if (!isLess && !isTotal) return false;
  const numbers = of('number')
    .filter((value) => !/^0\d/.test(value))
    .map(Number);
  return numbers.some((a) =>
    numbers.some((b) => (isLess && isOne(a - b)) || (isTotal && (isOne(a + b) || isOne(a * b)))),
  );
}
