import { decodedTexts, OPEN_ESCAPE, type Span } from './decoded-text.ts';

/** A secret in a text, under the name that is shown in its place. */
export interface FoundSecret extends Span {
  readonly name: string;
}

/** Nothing shorter is looked for. */
export const MIN_LENGTH = 6;
/** A letter or digit in an escape, and another one after it. */
const ESCAPED_RUN = /(?:%(?:3\d|[4-7][0-9a-f])){2}|(?:\\u00(?:3\d|[4-7][0-9a-f])){2}/i;
const isEscaped = (text: string): boolean => text.includes('%') || text.includes('\\u00');
const NONE: readonly FoundSecret[] = [];
/** Characters that may stand for one of a secret: `\\\\u00e4`. */
const MAX_ESCAPED = 12;

/** Looks for secrets: in a text as it is, and in what it says when its escapes are taken back. */
export class SecretSearch {
  readonly #names: ReadonlyMap<string, string>;
  readonly #pattern: RegExp | undefined;
  /** The longest run of letters and digits of each form: in a document only punctuation is escaped. */
  readonly #cores: RegExp;
  readonly #longest: number;

  constructor(names: ReadonlyMap<string, string>) {
    this.#names = names;
    // The longest first: a key that another one begins with must not leave its end behind.
    const forms = [...names.keys()].sort((a, b) => b.length - a.length);
    this.#longest = forms[0]?.length ?? 0;
    this.#pattern =
      forms.length === 0 ? undefined : new RegExp(forms.map(patternOf).join('|'), 'g');
    this.#cores = new RegExp(forms.map(coreOf).join('|'));
  }

  /** Every secret in the text, in order; none overlaps another. */
  find(text: string): readonly FoundSecret[] {
    if (this.#pattern === undefined || text.length < MIN_LENGTH) return NONE;
    return this.#search(text);
  }

  /**
   * As `find` for documents of ours, which are full of escapes and whose captured texts were looked at before: relies on it
   * that letters and digits are never escaped, unless all of a text is.
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

  /** How many characters at the end could be the beginning of a secret. */
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

  /** An escape that may not be complete yet is any character. */
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

/** What is shorter than four characters is in every text, as nothing is. */
function coreOf(form: string): string {
  const runs = form.match(/[A-Za-z0-9]{4,}/g) ?? [];
  return runs.toSorted((a, b) => b.length - a.length)[0] ?? '';
}

/** Web forms write a space as "+". */
const patternOf = (form: string): string =>
  form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll(' ', '[ +]');

/** The first and longest of those that overlap, as far as any of them reaches. */
function withoutOverlaps(found: readonly FoundSecret[]): FoundSecret[] {
  const kept: FoundSecret[] = [];
  for (const one of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1);
    if (last === undefined || one.start >= last.end) kept.push(one);
    else if (one.end > last.end) kept[kept.length - 1] = { ...last, end: one.end };
  }
  return kept;
}
