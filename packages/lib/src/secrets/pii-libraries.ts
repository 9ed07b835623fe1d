import type { CountryCode } from 'libphonenumber-js/min';
import type { PiiSpan } from './pii.ts';

const PHONE = /(?<![\p{L}\p{N}_])\+\d[\d ().-]{5,20}\d/gu;
const IBAN = /(?<![\p{L}\p{N}_])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{1,4}){3,8}(?![\p{L}\p{N}_])/gu;
/** The libraries' time grows with the text, and answers are shorter than this. */
const MAX_TEXT = 200_000;

export interface LibraryOptions {
  /** Country of national phone numbers. Without it, only numbers with a country code are found. */
  readonly phoneCountry?: string | undefined;
  /** Find people by grammar instead of capital letters. */
  readonly people?: boolean | undefined;
}

/** Whether a text needs a library. */
export const needsLibraries = (text: string, { phoneCountry, people }: LibraryOptions): boolean =>
  phoneCountry !== undefined ||
  people === true ||
  text.search(PHONE) >= 0 ||
  text.search(IBAN) >= 0;

/** Phone numbers, bank accounts and people, found by libraries that are loaded on demand. */
export async function findByLibraries(text: string, options: LibraryOptions): Promise<PiiSpan[]> {
  const scanned = text.slice(0, MAX_TEXT);
  return [
    ...(await ibans(scanned)),
    ...(await phones(scanned, options.phoneCountry)),
    ...(options.people ? await people(scanned) : []),
  ];
}

async function phones(text: string, country: string | undefined): Promise<PiiSpan[]> {
  if (country === undefined && text.search(PHONE) < 0) return [];
  const { findPhoneNumbersInText, parsePhoneNumberFromString } = await import(
    'libphonenumber-js/min'
  );
  const spans: PiiSpan[] = [];
  for (const match of text.matchAll(PHONE)) {
    if (parsePhoneNumberFromString(match[0])?.isPossible() !== true) continue;
    spans.push({
      type: 'phone',
      start: match.index,
      end: match.index + match[0].length,
      confidence: 0.9,
    });
  }
  if (country === undefined) return spans;
  for (const { startsAt, endsAt } of findPhoneNumbersInText(text, country as CountryCode)) {
    if (spans.some((span) => span.start < endsAt && startsAt < span.end)) continue;
    spans.push({ type: 'phone', start: startsAt, end: endsAt, confidence: 0.9 });
  }
  return spans;
}

async function ibans(text: string): Promise<PiiSpan[]> {
  const candidates = [...text.matchAll(IBAN)];
  if (candidates.length === 0) return [];
  const { isValidIBAN } = await import('ibantools');
  const spans: PiiSpan[] = [];
  for (const { 0: match, index } of candidates) {
    // Shortens the match until it is a number, because words after it look like more of it.
    for (let end = match.length; end >= 15; end--) {
      if (match[end - 1] === ' ' || !isValidIBAN(match.slice(0, end).replaceAll(' ', ''))) continue;
      spans.push({ type: 'iban', start: index, end: index + end, confidence: 0.95 });
      break;
    }
  }
  return spans;
}

async function people(text: string): Promise<PiiSpan[]> {
  const { default: nlp } = await import('compromise');
  const found = nlp(text).people().json({ offset: true }) as {
    offset?: { start: number; length: number };
  }[];
  return found.flatMap(({ offset }) =>
    offset
      ? [
          {
            type: 'name' as const,
            start: offset.start,
            end: offset.start + offset.length,
            confidence: 0.6,
          },
        ]
      : [],
  );
}
