import { decodedTexts, OPEN_ESCAPE, type Span } from './decoded-text.ts';

/** A secret in a text, with its display name. */
export interface FoundSecret extends Span {
  readonly name: string;
}

/** Minimum length of a secret. */
export const MIN_LENGTH = 6;
/** Two consecutive escaped letters or digits. */
const ESCAPED_RUN = /(?:%(?:3\d|[4-7][0-9a-f])){2}|(?:\\u00(?:3\d|[4-7][0-9a-f])){2}/i;
const isEscaped = (text: string): boolean => text.includes('%') || text.includes('\\u00');
const NONE: readonly FoundSecret[] = [];
/** Longest escape of one character: `\\\\u00e4`. */
const MAX_ESCAPED = 12;

/** Finds secrets in a text, as written and decoded. */
export class SecretSearch {
  readonly #names: ReadonlyMap<string, string>;
  readonly #pattern: RegExp | undefined;
  /**
   * The longest run of letters and digits of each form, because documents escape only punctuation.
   */
  readonly #cores: RegExp;
  readonly #longest: number;

  constructor(names: ReadonlyMap<string, string>) {
    this.#names = names;
    // Longest first, so that a key that starts with another one is masked completely.
    const forms = [...names.keys()].sort((a, b) => b.length - a.length);
    this.#longest = forms[0]?.length ?? 0;
    this.#pattern =
      forms.length === 0 ? undefined : new RegExp(forms.map(patternOf).join('|'), 'g');
    this.#cores = new RegExp(forms.map(coreOf).join('|'));
  }

  /** Every secret in the text, in order, without overlaps. */
  find(text: string): readonly FoundSecret[] {
    if (this.#pattern === undefined || text.length < MIN_LENGTH) return NONE;
    return this.#search(text);
  }

  /**
   * Like `find`, for our own documents, which are full of escapes and already masked. Relies on
   * letters and digits never being escaped, unless the whole text is.
   */
  findInDocument(text: string): readonly FoundSecret[] {
    return this.mayBeIn(text) ? this.#search(text) : NONE;
  }

  mayBeIn(document: string): boolean {
    if (this.#pattern === undefined) return false;
    return this.#cores.test(document) || (isEscaped(document) && ESCAPED_RUN.test(document));
  }

  #search(text: string): readonly FoundSecret[] {
    const found = this.#matches(text);
    for (const decoded of decodedTexts(text)) {
      for (const { name, ...span } of this.#matches(decoded.text))
        found.push({ ...decoded.sourceOf(span), name });
    }
    return found.length < 2 ? found : withoutOverlaps(found);
  }

  /** Length of the suffix that could be the start of a secret. */
  beginning(text: string): number {
    if (this.#pattern === undefined) return 0;
    const tail = text.slice(Math.max(0, text.length - this.#longest * MAX_ESCAPED));
    let most = this.#beginningIn(tail);
    for (const decoded of decodedTexts(tail)) {
      const length = this.#beginningIn(decoded.text);
      if (length === 0) continue;
      const { start } = decoded.sourceOf({
        start: decoded.text.length - length,
        end: decoded.text.length,
      });
      most = Math.max(most, tail.length - start);
    }
    return most;
  }

  /** An incomplete escape may be any character. */
  #beginningIn(text: string): number {
    const open = OPEN_ESCAPE.exec(text)?.[0].length ?? 0;
    const whole = beginningOf(text, this.#names.keys());
    return open === 0
      ? whole
      : Math.max(whole, open + beginningOf(text.slice(0, -open), this.#names.keys()));
  }

  #matches(text: string): FoundSecret[] {
    const pattern = this.#pattern!;
    const found: FoundSecret[] = [];
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text))
      found.push({ start: match.index, end: pattern.lastIndex, name: this.#nameOf(match[0]) });
    return found;
  }

  #nameOf(form: string): string {
    const name = this.#names.get(form);
    if (name !== undefined) return name;
    const spaced = [...this.#names].find(
      ([known]) => known.replaceAll(' ', '+') === form.replaceAll(' ', '+'),
    );
    return spaced?.[1] ?? 'SECRET';
  }
}

function beginningOf(text: string, forms: Iterable<string>): number {
  let most = 0;
  for (const form of forms) {
    const spaced = form.includes(' ');
    const end = spaced ? text.slice(-form.length).replaceAll(' ', '+') : text;
    const wanted = spaced ? form.replaceAll(' ', '+') : form;
    for (let length = Math.min(form.length - 1, end.length); length > most; length--)
      if (end.endsWith(wanted.slice(0, length))) most = length;
  }
  return most;
}

/** Every text contains runs shorter than four characters. */
function coreOf(form: string): string {
  const runs = form.match(/[A-Za-z0-9]{4,}/g) ?? [];
  return runs.toSorted((a, b) => b.length - a.length)[0] ?? '';
}

/** Form encoding writes a space as "+". */
const patternOf = (form: string): string =>
  form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll(' ', '[ +]');

/** Merges overlapping finds under the first and longest one. */
function withoutOverlaps(found: readonly FoundSecret[]): FoundSecret[] {
  const kept: FoundSecret[] = [];
  for (const one of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1);
    if (last === undefined || one.start >= last.end) kept.push(one);
    else if (one.end > last.end) kept[kept.length - 1] = { ...last, end: one.end };
  }
  return kept;
}
