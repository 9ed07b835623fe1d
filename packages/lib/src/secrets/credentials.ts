import { SURE_FORMS } from './mask-secrets.ts';
import { API_KEY } from './pii.ts';
import { maskMark, SECRETS } from './secrets.ts';

/** A credential in a text. `name` is used in messages and by `scrub`. */
export interface FoundCredential {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Placeholder for every credential of a request, the same on each machine. */
export const PLACEHOLDER = '[secret]';

const PRIVATE_KEY =
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,10000}?-----END [A-Z ]{0,30}PRIVATE KEY-----/g;
const PRIVATE_KEY_SIGN = 'PRIVATE KEY-----';
/** Fast test for texts that may have a key of a known form. */
const MAY_HOLD_KEY =
  /sk[-_]|rk_|gh[pousr]_|github_pat_|hf_|npm_|A[KS]IA|eyJ|AIza|xox[abprs]-|glpat-/;

const MAY_HOLD_LOGIN = /:\/\/[^\s/@]{0,400}@|\b(?:bearer|basic)\s/i;

/** Known secret values and texts in the form of a credential, in order, without overlaps. */
export const findCredentials = (text: string): readonly FoundCredential[] =>
  withForms(text, SECRETS.isEmpty ? [] : [...SECRETS.findInDocument(text)]);

/** Credentials whose form gives them away go by these names. */
export const CREDENTIAL_FORMS: readonly string[] = [
  'api_key',
  'private_key',
  ...SURE_FORMS.map(({ name }) => name),
];

type OnFound = (name: string) => void;

/** A text as it may be kept, anywhere: with a mark for every value that is known to be secret or looks like a credential. */
export const keptText = (text: string, onFound?: OnFound): string =>
  withoutForms(SECRETS.text(text, onFound), onFound);

/** As `keptText` for a document of ours, in which a word of its own that equals a secret hides nothing. */
export const keptDocument = (text: string): string => withoutForms(SECRETS.document(text));

/** A value of any form as it may be kept, its keys too. */
export const keptValue = <T>(value: T, onFound?: OnFound): T =>
  mapTexts(SECRETS.value(value, onFound), (text) => withoutForms(text, onFound));

function withoutForms(text: string, onFound?: OnFound): string {
  const found = withForms(text, []);
  if (found.length === 0) return text;
  let kept = '';
  let at = 0;
  for (const { name, start, end } of found) {
    onFound?.(name);
    kept += text.slice(at, start) + maskMark(name);
    at = end;
  }
  return kept + text.slice(at);
}

function withForms(text: string, found: FoundCredential[]): readonly FoundCredential[] {
  if (MAY_HOLD_KEY.test(text))
    for (const match of text.matchAll(API_KEY)) found.push(placeOf(match, 'api_key'));
  if (text.includes(PRIVATE_KEY_SIGN))
    for (const match of text.matchAll(PRIVATE_KEY)) found.push(placeOf(match, 'private_key'));
  if (MAY_HOLD_LOGIN.test(text))
    for (const { name, pattern, isOne } of SURE_FORMS)
      for (const match of text.matchAll(pattern)) {
        const [whole, before = '', secret = ''] = match;
        const end = match.index + whole.length;
        if (isOne(before, secret)) found.push({ name, start: end - secret.length, end });
      }
  if (found.length < 2) return found;
  const kept: FoundCredential[] = [];
  for (const one of found.toSorted((a, b) => a.start - b.start || b.end - a.end))
    if (one.start >= (kept.at(-1)?.end ?? 0)) kept.push(one);
  return kept;
}

const placeOf = (match: RegExpExecArray, name: string): FoundCredential => ({
  name,
  start: match.index,
  end: match.index + match[0].length,
});

/** Replaces every credential by the placeholder. */
export function withoutCredentials(text: string): string {
  const found = findCredentials(text);
  if (found.length === 0) return text;
  let masked = '';
  let at = 0;
  for (const { start, end } of found) {
    masked += text.slice(at, start) + PLACEHOLDER;
    at = end;
  }
  return masked + text.slice(at);
}

/** Maps every text in a value, including keys. Returns the value itself if nothing changes. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  return visit(value, change) as T;
}

function visit(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const changed = visit(value[i], change);
      if (changed === value[i]) continue;
      copy ??= [...value];
      copy[i] = changed;
    }
    return copy ?? value;
  }
  let isChanged = false;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
    const entry: [string, unknown] = [change(key), visit(inner, change)];
    isChanged ||= entry[0] !== key || entry[1] !== inner;
    return entry;
  });
  return isChanged ? Object.fromEntries(entries) : value;
}
