import { visibleText } from '../kit/visible-text.ts';
import { type Fact, factsIn, MIN_LOCAL } from './fact-readers.ts';

/** The first fact of a message that none of the known texts gives; undefined where all of them are known. */
export function unknownFact(message: string, known: readonly string[]): string | undefined {
  const texts = known.map(prepared);
  const facts = texts.flatMap(factsIn);
  const shelf = {
    values: new Set(facts.flatMap(({ kind, values }) => values.map((value) => `${kind} ${value}`))),
    facts,
    counts: countsIn(texts),
    joined: new Set(texts.flatMap((text) => factsIn(text).flatMap((fact) => joinedForms(fact, text)))),
  };
  const said = prepared(message);
  return factsIn(said).find((fact) => !isKnown(fact, said, shelf))?.shown;
}

interface Shelf {
  readonly values: ReadonlySet<string>;
  readonly facts: readonly Fact[];
  readonly counts: ReadonlyMap<string, ReadonlySet<string>>;
  /** Ids that are written in two parts: `LH 1234`. */
  readonly joined: ReadonlySet<string>;
}

/** One way to write digits, spaces and dashes. */
const prepared = (text: string): string => visibleText(text).replace(/[\u2010-\u2015\u2212]/g, '-');

function isKnown(fact: Fact, said: string, shelf: Shelf): boolean {
  if (fact.values.some((value) => shelf.values.has(`${fact.kind} ${value}`))) return true;
  switch (fact.kind) {
    case 'date':
      return fact.values.some((value) => shelf.facts.some((each) => each.kind === 'date' && agrees(value, each)));
    case 'time':
      return shelf.facts.some((each) => each.kind === 'time' && each.values.some((time) => isAbout(fact, time)));
    case 'digits':
      return fact.values.some((digits) => isWhole(digits, shelf)) || pieces(fact).every((n) => isKnownNumber(n, shelf));
    case 'id':
      return fact.values.some(
        (id) => shelf.joined.has(id) || shelf.values.has(`number ${id}`) || isWhole(id, shelf) || isEndOfId(id, shelf),
      );
    case 'number':
      return (
        isEveryday(fact, said, shelf) ||
        joinedForms(fact, said).some((id) => shelf.values.has(`id ${id}`)) ||
        fact.values.some((n) => isKnownNumber(n, shelf) || isEnd(n, said, shelf))
      );
    default:
      return false;
  }
}

/** A number may be the year or the day of a known date, the hour of a known time, an id without its label, or a whole number written in groups. */
function isKnownNumber(number: string, { values, facts }: Shelf): boolean {
  if (values.has(`number ${number}`) || values.has(`id ${number}`) || values.has(`digits ${number}`)) return true;
  const parts = [`${number}-`, `-${number.padStart(2, '0')}`, `${number}:0`, `${Number(number) + 12}:0`];
  return facts.some(
    ({ kind, values: own }) =>
      (kind === 'date' && own.some((date) => date.startsWith(parts[0]!) || date.endsWith(parts[1]!))) ||
      (kind === 'time' && own.some((time) => time === parts[2] || time === parts[3])),
  );
}

/** Phone numbers are given with and without the code of the country. */
const isWhole = (digits: string, { facts }: Shelf): boolean =>
  facts.some(
    ({ kind, values }) =>
      (kind === 'digits' || kind === 'number') &&
      values.some(
        (known) =>
          known === digits || (isLong(known) && isLong(digits) && (isSuffix(known, digits) || isSuffix(digits, known))),
      ),
  );
const isLong = (digits: string): boolean => digits.length >= MIN_LOCAL;
const isSuffix = (whole: string, part: string): boolean => {
  const local = part.replace(/^0/, '');
  return isLong(local) && whole.endsWith(local) && whole.length - local.length <= 3;
};

const MIN_END = 3;
/** The last digits of a card or an account may be said, the first ones where the user says that they are. */
function isEnd(digits: string, said: string, { facts }: Shelf): boolean {
  if (!/^\d+$/.test(digits) || digits.length < MIN_END) return false;
  const long = facts.flatMap(({ values }) => values.filter((value) => isLong(value) && /\d{4}$/.test(value)));
  if (long.some((known) => known.endsWith(digits))) return true;
  return /\b(?:start|begin|first)/i.test(said) && long.some((known) => known.startsWith(digits));
}

/** `77` of `ORD-77`, where `ORD-77` is known. */
const isEndOfId = (id: string, { facts }: Shelf): boolean =>
  facts.some(({ kind, values }) => kind === 'id' && values.some((known) => known.replace(/^\p{L}+/u, '') === id));

/** Dates agree where nothing that both say differs. */
function agrees(date: string, { values }: Fact): boolean {
  const parts = date.split('-');
  return values.some((known) =>
    known.split('-').every((part, i) => part === '' || parts[i] === '' || part === parts[i]),
  );
}

/** Who gives the hour alone may mean any time in it. */
const isAbout = ({ shown, values }: Fact, time: string): boolean =>
  values.includes(time) || (!/[:.]\d/.test(shown) && values.some((value) => value === time.replace(/:\d+$/, ':0')));

/** A number with the letters before or after it as one id: `14 C` is `14C`, `A 4711` is `A4711`. */
function joinedForms({ kind, shown, at, end }: Fact, text: string): readonly string[] {
  if (kind !== 'number') return [];
  const before = /(?<!\p{L})(\p{L}{1,4})\s$/u.exec(text.slice(Math.max(0, at - 6), at))?.[1];
  const after = /^\s(\p{L}{1,2})(?!\p{L})/u.exec(text.slice(end))?.[1];
  return [before && before + shown, after && shown + after].flatMap((id) => (id ? [id.toLowerCase()] : []));
}

const pieces = ({ shown }: Fact): string[] => shown.match(/\d+/g) ?? [];

/** What makes a number the name of something: `order 4`. */
const LABELLED =
  /(?:\b(?:order|ticket|account|acct|number|no|nr|id|code|pin|case|invoice|booking|reservation|room|seat|gate|flight|table|apartment|apt|customer|reference|ref|card|policy|contract)s?\b[\s.:#-]*(?:\b(?:number|no|nr|id|is|was|ends? (?:in|with))\b[\s.:#-]*)*|#\s*)$/i;
/** Nouns that are counted in talk of any kind. */
const TALK =
  /^\s*(?:more|other|others|things?|questions?|minutes?|mins?|seconds?|moments?|times?|of (?:you|us|them|these|those))\b/i;
const SMALL = 3;

/** Small counts, and numbers in phrases, are words of everyday speech. A count that the brief gives otherwise is not. */
function isEveryday({ values, at, end, shown }: Fact, said: string, { counts }: Shelf): boolean {
  const before = said.slice(Math.max(0, at - 40), at);
  const after = said.slice(end);
  if (LABELLED.test(before) && shown.toLowerCase() !== 'one') return false;
  if (LABELLED.test(before)) return !/^\s*(?:[.,!?]|$)/.test(after);
  if (/^\d+\s*%/.test(said.slice(at)) && shown === '100') return true;
  if (TALK.test(after)) return true;
  if (!values.every((value) => Number(value) <= SMALL && Number.isInteger(Number(value)))) return false;
  const noun = nounAfter(after);
  const known = noun === undefined ? undefined : counts.get(noun);
  return shown.toLowerCase() === 'one' || known === undefined || values.some((value) => known.has(value));
}

/** How many of what the known texts speak of. */
function countsIn(texts: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
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
