import { visibleText } from '@agentci/lib/text';
import { derivedMoments, isDerived } from './derived-facts.ts';
import { type Counts, countsIn, isEveryday, SMALL } from './everyday-numbers.ts';
import { type Fact, factsIn } from './fact-readers.ts';
import { type IdForm, idForm, isSameId } from './id-forms.ts';
import { isPartOf, isSpelledIn } from './joint-ids.ts';
import { lettersOf } from './letter-ids.ts';
import { type Dialled, isSamePhone, MIN_LOCAL } from './phone-forms.ts';

/** The first fact of a message that is in none of the known texts. Undefined if all are known. */
export function unknownFact(message: string, knownTexts: readonly string[]): string | undefined {
  const texts = knownTexts.map(prepared);
  const said = prepared(message);
  const stated = factsIn(said);
  if (stated.length === 0) return undefined;
  const given = texts.flatMap((text) => factsIn(text).map((fact) => ({ fact, text })));
  const facts = given.map(({ fact }) => fact);
  const known: KnownFacts = {
    values: new Set(facts.flatMap(({ kind, values }) => values.map((value) => `${kind} ${value}`))),
    facts: [...facts, ...derivedMoments(facts, said, texts), ...(texts.some(isNoon) ? NOON : [])],
    ids: facts.flatMap(({ kind, values }) => (kind === 'id' ? values.map(idForm) : [])),
    counts: countsIn(texts),
    joined: new Set(given.flatMap(({ fact, text }) => joinedForms(fact, text))),
    letters: texts.map(lettersOf).join(' '),
  };
  return stated.find(
    (fact) => !isKnown(fact, said, known) && !isWrittenApart(fact, said, { texts, known }),
  )?.shown;
}

interface KnownFacts {
  readonly values: ReadonlySet<string>;
  /** Including derived ones, such as the day after a date. */
  readonly facts: readonly Fact[];
  readonly ids: readonly IdForm[];
  readonly counts: Counts;
  /** Ids in two parts: `LH 1234`. */
  readonly joined: ReadonlySet<string>;
  /** Letters and digits of all texts. */
  readonly letters: string;
}

const DIGITS = /\p{Nd}/gu;
const FRACTIONS: Readonly<Record<string, string>> = { '½': '.5', '¼': '.25', '¾': '.75' };
/** Normalizes digits of any script, fractions, spaces and dashes. */
const prepared = (text: string): string =>
  visibleText(text.replace(/(?<=\d)[½¼¾]/g, (sign) => FRACTIONS[sign]!))
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/\u066b/g, '.')
    .replace(/[\u066c\u2019](?=\p{Nd})/gu, "'")
    .replace(DIGITS, (digit) => (digit.length > 1 ? digit : asciiDigit(digit)));

/**
 * The digits of a script are ten consecutive code points, and the one before the first is not a
 * digit.
 */
function asciiDigit(digit: string): string {
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCharCode(digit.charCodeAt(0) - value - 1))) value++;
  return /^\d$/.test(digit) ? digit : String(value);
}

const isNoon = (text: string): boolean => /\b(?:noon|midday|midnight)\b/i.test(text);
const NOON: readonly Fact[] = [
  { kind: 'time', values: ['12:0', '0:0'], shown: '12:00', at: 0, end: 0, isInternational: false },
];

function isKnown(fact: Fact, said: string, known: KnownFacts): boolean {
  const isOneOf = (): boolean =>
    fact.values.some((value) => known.values.has(`${fact.kind} ${value}`));
  switch (fact.kind) {
    case 'date':
      return fact.values.some((value) =>
        known.facts.some((each) => each.kind === 'date' && agrees(value, each)),
      );
    case 'time':
      return known.facts.some((each) => timesOf(each).some((time) => isAbout(fact, time)));
    case 'digits':
      return (
        isOneOf() ||
        isWhole(fact, known) ||
        isEnd(fact, said, known) ||
        pieces(fact).every((n) => isKnownNumber(n, known))
      );
    case 'letters':
      return known.letters.includes(lettersOf(fact.shown));
    case 'id':
      return isKnownId(fact, said, known);
    case 'number':
      return (
        isOneOf() ||
        isEveryday(fact, said, known.counts) ||
        joinedForms(fact, said).some((id) => known.ids.some(({ compact }) => compact === id)) ||
        fact.values.some((n) => isKnownNumber(n, known)) ||
        isWhole(fact, known) ||
        isEnd(fact, said, known) ||
        (/\d \d/.test(fact.shown) && pieces(fact).every((n) => isKnownNumber(n, known))) ||
        isDerived(fact, said, known.facts)
      );
    default:
      return isOneOf();
  }
}

function isKnownId(fact: Fact, said: string, known: KnownFacts): boolean {
  const form = idForm(fact.values[0]!);
  const { compact, rest, number } = form;
  if (known.joined.has(compact) || known.ids.some((id) => isSameId(id, form))) return true;
  if ([number, rest].some((each) => each !== undefined && known.values.has(`number ${each}`)))
    return true;
  if (rest === undefined && known.ids.some((id) => id.rest === compact)) return true;
  if (isRange(fact.shown))
    return pieces(fact).every((n) => Number(n) <= SMALL || isKnownNumber(n, known));
  // `xxxx-1234` is the end of a card number.
  const bare = { ...fact, values: rest === undefined ? [compact] : [compact, rest] };
  return isWhole(bare, known) || isEnd(bare, said, known) || isSpelled(fact, known);
}

/** An id that one side writes as one word and the other as several. */
function isWrittenApart(
  fact: Fact,
  said: string,
  { texts, known }: { readonly texts: readonly string[]; readonly known: KnownFacts },
): boolean {
  const { compact } = idForm(fact.values[0]!);
  if (fact.kind === 'id' && texts.some((text) => isSpelledIn(text, compact))) return true;
  return isPartOf(new Set(known.ids.map((id) => id.compact)), said, fact);
}

/** `2-3` of "2-3 days". */
const isRange = (shown: string): boolean => /^\d{1,4}-\d{1,4}$/.test(shown);

/** A spelled-out text may be a part of a longer id. */
const isSpelled = ({ shown, values }: Fact, { letters }: KnownFacts): boolean =>
  /^.(?:[ -].)+$/u.test(shown) && letters.includes(values[0]!);

/**
 * A number may be the year or the day of a known date, the hour of a known time, an id without its
 * label, or an integer with digit groups.
 */
function isKnownNumber(number: string, { values, facts, ids }: KnownFacts): boolean {
  if (values.has(`number ${number}`) || values.has(`digits ${number}`)) return true;
  if (ids.some(({ compact, rest, number: own }) => [compact, rest, own].includes(number)))
    return true;
  const [hour, minutes] = clockOf(number) ?? [];
  const parts = [
    `${number}-`,
    `-${number.padStart(2, '0')}`,
    `${number}:0`,
    `${Number(number) + 12}:0`,
  ];
  return facts.some(
    ({ kind, values: own }) =>
      (kind === 'date' &&
        own.some(
          (date) =>
            date.startsWith(parts[0]!) ||
            date.endsWith(parts[1]!) ||
            date.replaceAll('-', '') === number,
        )) ||
      (kind === 'time' &&
        own.some(
          (time) =>
            time === parts[2] ||
            time === parts[3] ||
            (hour !== undefined &&
              [`${hour}:${minutes}`, `${hour + 12}:${minutes}`].includes(time)),
        )),
  );
}

const timesOf = ({ kind, values }: Fact): readonly string[] => {
  if (kind === 'time') return values;
  if (kind === 'number')
    return values.flatMap((value) =>
      clockOf(value) === undefined ? [] : [clockOf(value)!.join(':')],
    );
  return [];
};

/** A number that may be a time: `15.30`, "three thirty". */
function clockOf(number: string): readonly [hour: number, minutes: number] | undefined {
  const [, hour, minutes = ''] = /^(\d{1,2})\.(\d{1,2})$/.exec(number) ?? [];
  return hour === undefined ? undefined : [Number(hour), Number(minutes.padEnd(2, '0'))];
}

/** Phone numbers may omit the country code. Cards and accounts may have gaps. */
function isWhole({ values, isInternational }: Fact, { facts }: KnownFacts): boolean {
  const own = dialled(values, isInternational);
  return (
    own.length > 0 &&
    facts.some((known) =>
      dialled(known.values, known.isInternational).some((a) => own.some((b) => isSamePhone(a, b))),
    )
  );
}

const dialled = (values: readonly string[], isInternational: boolean): Dialled[] =>
  values
    .filter((value) => value.length >= MIN_LOCAL && /^\d+$/.test(value))
    .map((digits) => ({ digits, isInternational }));

const MIN_END = 3;
/**
 * The last digits of a card or an account are allowed, and the first ones if the user calls them
 * that.
 */
function isEnd({ values }: Fact, said: string, { facts }: KnownFacts): boolean {
  const parts = values.filter((digits) => /^\d+$/.test(digits) && digits.length >= MIN_END);
  if (parts.length === 0) return false;
  const long = facts.flatMap(({ kind, values: own }) =>
    own
      .map((value) => (kind === 'id' ? idForm(value).compact : value))
      .filter(
        (value) =>
          value.length >= MIN_LOCAL &&
          /\d{4}$/.test(value) &&
          !/[:.]/.test(value) &&
          kind !== 'date',
      ),
  );
  const isFirst = /\b(?:start|begin|first)/i.test(said);
  return long.some((known) =>
    parts.some((digits) => known.endsWith(digits) || (isFirst && known.startsWith(digits))),
  );
}

/** Dates are equal if all their common parts are. */
function agrees(date: string, { values }: Fact): boolean {
  const parts = date.split('-');
  return values.some((known) =>
    known.split('-').every((part, i) => part === '' || parts[i] === '' || part === parts[i]),
  );
}

const ROUNDED_MIN = 10;
/** An hour alone may be rounded by a few minutes: 13:05 is "the 1 pm one", 13:30 is not. */
function isAbout({ shown, values }: Fact, time: string): boolean {
  if (values.includes(time)) return true;
  if (/[:.h]\d/i.test(shown)) return false;
  return values.some((value) => value.endsWith(':0') && apart(value, time) <= ROUNDED_MIN);
}

/** Minutes between two times of day. */
function apart(a: string, b: string): number {
  const [x, y] = [a, b].map((time) =>
    time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0),
  ) as [number, number];
  return Math.min(Math.abs(x - y), 1440 - Math.abs(x - y));
}

/** A number joined with adjacent letters as one id: `14 C` is `14C`, `A 4711` is `A4711`. */
function joinedForms({ kind, shown, at, end }: Fact, text: string): readonly string[] {
  if (kind !== 'number') return [];
  const before = /(?<!\p{L})(\p{L}{1,4})\s$/u.exec(text.slice(Math.max(0, at - 6), at))?.[1];
  const after = /^\s(\p{L}{1,2})(?!\p{L})/u.exec(text.slice(end))?.[1];
  return [before && before + shown, after && shown + after].flatMap((id) =>
    id ? [id.toLowerCase()] : [],
  );
}

const pieces = ({ shown }: Fact): string[] => shown.match(/\d+/g) ?? [];
